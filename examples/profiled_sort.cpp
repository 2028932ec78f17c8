// Reads its own profile: mergesort with a serial merge, and the same with a merge that forks. docs/profile.md explains what this prints.
// Work O(n log n). Span O(n) with the serial merge, O(log^3 n) with the other.

#include <nopal/native.hpp>
#include <nopal/profile.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

using items = std::span<std::uint64_t>;
constexpr std::size_t grain = 2048;

void merge_serially(items a, items b, items to) { std::merge(a.begin(), a.end(), b.begin(), b.end(), to.begin()); }

// The middle of the longer one splits both: what is less is on the left.
void merge_by_halves(items a, items b, items to) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() <= grain) return merge_serially(a, b, to);
  std::size_t const i = a.size() / 2;
  auto const j = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[i]) - b.begin());
  nopal::parallel_invoke([=] { merge_by_halves(a.first(i), b.first(j), to.first(i + j)); },
                         [=] { merge_by_halves(a.subspan(i), b.subspan(j), to.subspan(i + j)); });
}

// Sorts v, with as much room beside it, into `to`, which is one of the two.
template <class Merge>
void sort(items v, items room, bool into_room, Merge merge) {
  if (v.size() <= grain) {
    std::sort(v.begin(), v.end());
    if (into_room) std::copy(v.begin(), v.end(), room.begin());
    return;
  }
  std::size_t const half = v.size() / 2;
  nopal::parallel_invoke([=] { sort(v.first(half), room.first(half), !into_room, merge); },
                         [=] { sort(v.subspan(half), room.subspan(half), !into_room, merge); });
  items const from = into_room ? v : room;
  merge(from.first(half), from.subspan(half), into_room ? room : v);
}

template <class Merge>
bool profiled(nopal::pool& pool, std::string const& file, Merge merge) {
  std::vector<std::uint64_t> v(1 << 21), room(v.size());
  std::uint64_t x = 1;
  for (auto& e : v) e = x = x * 6364136223846793005 + 1442695040888963407;
  nopal::profile p;
  pool.run([&] { sort(items{v}, items{room}, false, merge); });
  p.stop();
  nopal::profile_report const r = p.report();
  std::puts(r.table().c_str());
  if (std::FILE* const out = file.empty() ? nullptr : std::fopen(file.c_str(), "w")) {
    std::fputs(r.json().c_str(), out);
    std::fclose(out);
  }
  return std::is_sorted(v.begin(), v.end());
}

int main(int argc, char** argv) {
  std::string const names = argc > 1 ? argv[1] : "";
  nopal::pool pool;
  std::puts("---- The merge is serial.");
  bool const first = profiled(pool, names.empty() ? "" : names + "-serial.json", merge_serially);
  std::puts("---- The merge forks.");
  bool const second = profiled(pool, names.empty() ? "" : names + "-halves.json", merge_by_halves);
  return first && second ? 0 : 1;
}
