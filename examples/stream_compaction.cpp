// Stream compaction: rays fly through a scene, and after each step only those continue that have hit nothing. copy_if keeps them in their
// order, so that the picture at the end does not depend on the workers.
// For n rays and s steps: work O(n s), span O(s (n / 1024 + log n)).

#include <nopal/algorithm.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

struct ray {
  std::uint32_t id, state;
  bool operator==(ray const&) const = default;
};

ray advanced(ray r) { return {r.id, r.state * 1664525u + 1013904223u}; }
bool flies_on(ray r) { return r.state >> 28 != 0; }  // one in sixteen hits something

int main() {
  std::vector<ray> flying(200'000);
  nopal::parallel_for(0, flying.size(), [&](std::size_t i) {
    auto const id = static_cast<std::uint32_t>(i);
    flying[i] = {id, id * 2654435761u};
  });
  std::vector<ray> serial = flying, next(flying.size());

  for (int step = 0; step < 20; ++step) {
    nopal::transform(flying, flying.begin(), advanced);
    auto const end = nopal::copy_if(flying, next.begin(), flies_on).out;
    next.erase(end, next.end());
    flying.swap(next);
    next.resize(flying.size());

    std::ranges::transform(serial, serial.begin(), advanced);
    std::erase_if(serial, [](ray r) { return !flies_on(r); });
    if (flying != serial) return 1;
  }
  std::printf("%zu of 200000 rays still fly\n", flying.size());
  return 0;
}
