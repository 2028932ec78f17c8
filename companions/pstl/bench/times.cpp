// Times of the standard library's parallel algorithms: compiled twice, with -include nopal/pstl.hpp and without. Called by times.py.
//
//     times SEED SIZE... [ALGORITHM...]    a line "algorithm,elements,n,microseconds" for each: the median of several calls
//
// Each call has other data: of a thousand elements that stay the same the processor learns which jumps are taken.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <execution>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace {

struct record {
  long key;
  long rest[3];
  record(long k = 0) : key{k}, rest{k, k, k} {}
  friend bool operator==(record const& a, record const& b) { return a.key == b.key; }
  friend bool operator<(record const& a, record const& b) { return a.key < b.key; }
  friend record operator+(record const& a, record const& b) { return {a.key + b.key}; }
  friend record operator-(record const& a, record const& b) { return {a.key - b.key}; }
};
long key(int x) { return x; }
long key(record const& x) { return x.key; }

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
struct data {
  std::vector<T> v, w, sorted, other, out;
  T* raw = nullptr;
  std::size_t n;

  explicit data(std::size_t count) : out(2 * count), raw{std::allocator<T>{}.allocate(count)}, n{count} {}
  ~data() { std::allocator<T>{}.deallocate(raw, n); }
  data(data const&) = delete;
  data& operator=(data const&) = delete;

  /// `ordered`: the sorted ranges too. They are made in order: sorting them would take longer than what is measured.
  void fill(std::uint64_t seed, bool ordered) {
    v.clear();
    for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<int>(mix(seed + i) % most));
    w = v;
    if (!ordered) return;
    std::uint64_t const step = std::max<std::uint64_t>(most / n, 4);
    sorted.clear();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sorted.emplace_back(static_cast<int>(sum += 2 + mix(seed + n + i) % (2 * step - 3)));
    // Elements of `sorted`, some left out and some twice; a half of them one more than there.
    other.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < n; ++i) {
      other.emplace_back(static_cast<int>(key(sorted[k]) + static_cast<long>(mix(seed + k) % 2)));
      k = std::min<std::size_t>(k + mix(seed + n + i) / 16 % 3, n - 1);
    }
  }

 private:
  static constexpr std::uint64_t most = 1'000'000'000;
};

volatile long result;  // so that nothing is left out

template <class T>
struct algorithm {
  char const* name;
  void (*call)(data<T>&);
  bool ordered = false;  ///< uses sorted ranges
};

constexpr auto const& par = std::execution::par;
auto const odd = [](auto const& x) { return key(x) % 2 != 0; };
auto const negative = [](auto const& x) { return key(x) < 0; };

template <class T>
std::vector<algorithm<T>> algorithms() {
  using d = data<T>;
  return {
      {"for_each", [](d& x) { std::for_each(par, x.v.begin(), x.v.end(), [](T& e) { e = e + T{1}; }); }},
      {"transform", [](d& x) { std::transform(par, x.v.begin(), x.v.end(), x.out.begin(), [](T const& e) { return e + T{1}; }); }},
      {"transform_two", [](d& x) { std::transform(par, x.v.begin(), x.v.end(), x.w.begin(), x.out.begin(), std::plus<>{}); }},
      {"copy", [](d& x) { std::copy(par, x.v.begin(), x.v.end(), x.out.begin()); }},
      {"fill", [](d& x) { std::fill(par, x.v.begin(), x.v.end(), T{7}); }},
      {"generate", [](d& x) { std::generate(par, x.v.begin(), x.v.end(), [] { return T{7}; }); }},
      {"replace_if", [](d& x) { std::replace_if(par, x.v.begin(), x.v.end(), odd, T{7}); }},
      {"reverse", [](d& x) { std::reverse(par, x.v.begin(), x.v.end()); }},
      {"reverse_copy", [](d& x) { std::reverse_copy(par, x.v.begin(), x.v.end(), x.out.begin()); }},
      {"rotate", [](d& x) { std::rotate(par, x.v.begin(), x.v.begin() + static_cast<std::ptrdiff_t>(x.n / 3), x.v.end()); }},
      {"swap_ranges", [](d& x) { std::swap_ranges(par, x.v.begin(), x.v.end(), x.w.begin()); }},
      {"adjacent_difference", [](d& x) { std::adjacent_difference(par, x.v.begin(), x.v.end(), x.out.begin()); }},
      {"uninitialized_copy", [](d& x) { std::uninitialized_copy(par, x.v.begin(), x.v.end(), x.raw); }},
      {"count_if", [](d& x) { result = std::count_if(par, x.v.begin(), x.v.end(), odd); }},
      {"find_if", [](d& x) { result = std::find_if(par, x.v.begin(), x.v.end(), negative) - x.v.begin(); }},
      {"any_of", [](d& x) { result = std::any_of(par, x.v.begin(), x.v.end(), negative); }},
      {"adjacent_find", [](d& x) { result = std::adjacent_find(par, x.v.begin(), x.v.end()) - x.v.begin(); }},
      {"equal", [](d& x) { result = std::equal(par, x.v.begin(), x.v.end(), x.w.begin()); }},
      {"mismatch", [](d& x) { result = std::mismatch(par, x.v.begin(), x.v.end(), x.w.begin()).first - x.v.begin(); }},
      {"lexicographical_compare", [](d& x) { result = std::lexicographical_compare(par, x.v.begin(), x.v.end(), x.w.begin(), x.w.end()); }},
      {"search", [](d& x) { result = std::search(par, x.v.begin(), x.v.end(), x.w.end() - 3, x.w.end()) - x.v.begin(); }},
      {"min_element", [](d& x) { result = std::min_element(par, x.v.begin(), x.v.end()) - x.v.begin(); }},
      {"minmax_element", [](d& x) { result = std::minmax_element(par, x.v.begin(), x.v.end()).first - x.v.begin(); }},
      {"is_sorted", [](d& x) { result = std::is_sorted(par, x.sorted.begin(), x.sorted.end()); }, true},
      {"is_heap", [](d& x) { result = std::is_heap(par, x.sorted.rbegin(), x.sorted.rend()); }, true},
      {"copy_if", [](d& x) { result = std::copy_if(par, x.v.begin(), x.v.end(), x.out.begin(), odd) - x.out.begin(); }},
      {"remove_if", [](d& x) { result = std::remove_if(par, x.v.begin(), x.v.end(), odd) - x.v.begin(); }},
      {"unique", [](d& x) { result = std::unique(par, x.other.begin(), x.other.end()) - x.other.begin(); }, true},
      {"partition", [](d& x) { result = std::partition(par, x.v.begin(), x.v.end(), odd) - x.v.begin(); }},
      {"stable_partition", [](d& x) { result = std::stable_partition(par, x.v.begin(), x.v.end(), odd) - x.v.begin(); }},
      {"partition_copy",
       [](d& x) {
         auto const out = x.out.begin();
         result = std::partition_copy(par, x.v.begin(), x.v.end(), out, out + static_cast<std::ptrdiff_t>(x.n), odd).first - out;
       }},
      {"reduce", [](d& x) { result = key(std::reduce(par, x.v.begin(), x.v.end(), T{0})); }},
      {"transform_reduce",
       [](d& x) { result = std::transform_reduce(par, x.v.begin(), x.v.end(), 0L, std::plus<>{}, [](T const& e) { return key(e); }); }},
      {"transform_reduce_double",
       [](d& x) {
         result = static_cast<long>(std::transform_reduce(par, x.v.begin(), x.v.end(), 0.0, std::plus<>{},
                                                          [](T const& e) { return static_cast<double>(key(e)); }));
       }},
      {"inclusive_scan", [](d& x) { std::inclusive_scan(par, x.v.begin(), x.v.end(), x.out.begin()); }},
      {"exclusive_scan", [](d& x) { std::exclusive_scan(par, x.v.begin(), x.v.end(), x.out.begin(), T{0}); }},
      {"sort", [](d& x) { std::sort(par, x.v.begin(), x.v.end()); }},
      {"sort_by_function", [](d& x) { std::sort(par, x.v.begin(), x.v.end(), [](T const& a, T const& b) { return key(a) > key(b); }); }},
      {"stable_sort", [](d& x) { std::stable_sort(par, x.v.begin(), x.v.end()); }},
      {"partial_sort", [](d& x) { std::partial_sort(par, x.v.begin(), x.v.begin() + static_cast<std::ptrdiff_t>(x.n / 10), x.v.end()); }},
      {"partial_sort_copy",
       [](d& x) {
         std::partial_sort_copy(par, x.v.begin(), x.v.end(), x.out.begin(), x.out.begin() + static_cast<std::ptrdiff_t>(x.n / 10));
       }},
      {"nth_element", [](d& x) { std::nth_element(par, x.v.begin(), x.v.begin() + static_cast<std::ptrdiff_t>(x.n / 2), x.v.end()); }},
      {"merge", [](d& x) { std::merge(par, x.sorted.begin(), x.sorted.end(), x.other.begin(), x.other.end(), x.out.begin()); }, true},
      {"inplace_merge",
       [](d& x) {
         auto const middle = x.sorted.begin() + static_cast<std::ptrdiff_t>(x.n / 2);
         std::rotate(x.sorted.begin(), middle, x.sorted.end());
         std::inplace_merge(par, x.sorted.begin(), middle, x.sorted.end());
       },
       true},
      {"includes", [](d& x) { result = std::includes(par, x.sorted.begin(), x.sorted.end(), x.sorted.begin() + 1, x.sorted.end() - 1); },
       true},
      {"set_union",
       [](d& x) {
         result = std::set_union(par, x.sorted.begin(), x.sorted.end(), x.other.begin(), x.other.end(), x.out.begin()) - x.out.begin();
       },
       true},
      {"set_intersection",
       [](d& x) {
         result =
             std::set_intersection(par, x.sorted.begin(), x.sorted.end(), x.other.begin(), x.other.end(), x.out.begin()) - x.out.begin();
       },
       true},
      {"set_difference",
       [](d& x) {
         result = std::set_difference(par, x.sorted.begin(), x.sorted.end(), x.other.begin(), x.other.end(), x.out.begin()) - x.out.begin();
       },
       true},
  };
}

template <class T>
void measure(char const* elements, std::size_t n, std::uint64_t seed, std::vector<std::string> const& only) {
  using clock = std::chrono::steady_clock;
  std::size_t const calls = n <= 30'000 ? 15 : n <= 300'000 ? 5 : 3;
  data<T> x{n};
  for (auto const& a : algorithms<T>()) {
    if (!only.empty() && std::find(only.begin(), only.end(), a.name) == only.end()) continue;
    std::vector<double> times;
    for (std::size_t k = 0; k < calls; ++k) {
      x.fill(seed += 2 * n, a.ordered);
      auto const before = clock::now();
      a.call(x);
      times.push_back(std::chrono::duration<double, std::micro>(clock::now() - before).count());
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(calls / 2), times.end());
    std::cout << a.name << ',' << elements << ',' << n << ',' << times[calls / 2] << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const arguments(argv + std::min(argc, 2), argv + argc);
  auto const names = std::find_if(arguments.begin(), arguments.end(), [](std::string const& a) { return a[0] < '0' || a[0] > '9'; });
  if (names == arguments.begin()) {
    std::cerr << "usage: times SEED SIZE... [ALGORITHM...]\n";
    return 2;
  }
  std::vector<std::string> const only(names, arguments.end());
  for (auto size = arguments.begin(); size != names; ++size) {
    auto const n = static_cast<std::size_t>(std::stoul(*size));
    measure<int>("int", n, std::stoul(argv[1]), only);
    measure<record>("32 bytes", n, std::stoul(argv[1]), only);
  }
}
