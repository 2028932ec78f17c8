// Sample sort: splitters, drawn from the numbers, split them into buckets; prefix sums of how many each block has for each bucket give the
// place of each number; then each bucket is sorted by itself.
// For n numbers, b blocks and b buckets: work O(n log n + b²), span O(b² + n / b · log n) where the splitters are good.

#include <nopal/algorithm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr std::size_t buckets = 64, blocks = 64;
using numbers = std::vector<unsigned>;

numbers draw_splitters(numbers const& v) {
  numbers sample(buckets * 16), splitters(buckets - 1);
  std::minstd_rand draw{23};
  for (unsigned& x : sample) x = v[draw() % v.size()];
  std::ranges::sort(sample);
  for (std::size_t i = 0; i < splitters.size(); ++i) splitters[i] = sample[(i + 1) * 16];
  return splitters;
}

void sample_sort(numbers& v) {
  if (v.size() < blocks * buckets) {
    std::ranges::sort(v);
    return;
  }
  numbers const splitters = draw_splitters(v);
  auto const bucket_of = [&](unsigned x) { return static_cast<std::size_t>(std::ranges::upper_bound(splitters, x) - splitters.begin()); };
  auto const begin_of = [&](std::size_t block) { return v.size() * block / blocks; };

  // The number that each block has for each bucket: bucket by bucket, so that their prefix sums are places.
  std::vector<std::size_t> places(buckets * blocks);
  nopal::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
    for (std::size_t i = begin_of(block); i < begin_of(block + 1); ++i) ++places[bucket_of(v[i]) * blocks + block];
  });
  nopal::exclusive_scan(places, places.begin(), std::size_t{0});

  std::vector<std::size_t> begins(buckets + 1, v.size());
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) begins[bucket] = places[bucket * blocks];

  numbers parted(v.size());
  nopal::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
    for (std::size_t i = begin_of(block); i < begin_of(block + 1); ++i) parted[places[bucket_of(v[i]) * blocks + block]++] = v[i];
  });
  nopal::parallel_for(std::size_t{0}, buckets, [&](std::size_t bucket) {
    std::sort(parted.begin() + static_cast<std::ptrdiff_t>(begins[bucket]),
              parted.begin() + static_cast<std::ptrdiff_t>(begins[bucket + 1]));
  });
  v.swap(parted);
}

int main() {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1000}, std::size_t{1'000'000}}) {
    numbers v(n);
    std::mt19937 draw{static_cast<unsigned>(n)};
    for (unsigned& x : v) x = static_cast<unsigned>(draw() % 1'000'000);
    numbers right = v;
    std::ranges::sort(right);
    sample_sort(v);
    if (v != right) return 1;
    std::printf("%zu numbers: sorted\n", n);
  }
  return 0;
}
