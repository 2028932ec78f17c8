#pragma once

// How libstdc++'s parallel algorithms run on nopal. The library cuts nothing itself: it hands over a range, and functions for a part of it.
// These cut it by what elements cost, with the engines of nopal's own algorithms. Called by ../pstl.hpp. ../../../README.md.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/grain.hpp"
#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/scan.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/algorithm/sort.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/loop/reduction.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/eventually.hpp"
#include "nopal/native.hpp"
#include "nopal/stay.hpp"

namespace nopal::inline NOPAL_ABI::core::pstl {

/// Memory for n elements, without objects. Throws std::bad_alloc.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t n) : memory_{n} {}
  explicit operator bool() const noexcept { return memory_.data() != nullptr; }
  [[nodiscard]] T* get() const noexcept { return memory_.data(); }

 private:
  algorithms::raw_buffer<T> memory_;
};

/// Element `k` of a range that begins at an iterator or a number.
template <class Index>
NOPAL_INLINE Index place(const Index& first, std::uint64_t k) {
  return static_cast<Index>(first + static_cast<decltype(first - first)>(k));
}
template <class Index>
NOPAL_INLINE std::uint64_t distance(const Index& first, const Index& last) {
  const auto n = last - first;
  return n > 0 ? static_cast<std::uint64_t>(n) : 0;
}

/// Calls f() and returns what it returns. Want of memory is the caller's affair; any other exception ends the program, as the standard says.
template <class F>
decltype(auto) ends_by_exception(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    std::terminate();
  }
}

/// Calls f() so that it runs to its end, whatever request to stop there is: an algorithm of the standard library cannot say that it has
/// not. And so that a caller on a worker's own thread returns on that thread, and waits only for what the call has begun: such a caller knows
/// nothing of nopal, and may hold a std::mutex. (A thread that has come to the pool for its own job alone cannot promise that.)
template <class F>
decltype(auto) undisturbed(F&& f) {
  return pstl::ends_by_exception([&]() -> decltype(auto) {
    if (core::state_here()->works() && !core::current()->occupant.here) {
      const nopal::stay here;
      const inside_region whole{inside_region::unstoppable{}};
      return f();
    }
    const inside_region whole{inside_region::unstoppable{}};
    return f();
  });
}

/// Their types identify costs that are remembered.
template <class...>
struct summed {};
template <class...>
struct scanned {};

/// Calls body(f, l). A function of its own, so that its loop is compiled as if it stood alone.
template <class Body, class Index>
[[gnu::noinline]] void run_part(Body& body, Index f, Index l) {
  body(f, l);
}

/// Does Index refer to elements of a std::vector<bool>, also through an adaptor? Two threads might write one word.
template <class Index>
inline constexpr bool shares_words = false;
template <std::input_or_output_iterator Index>
inline constexpr bool shares_words<Index> = std::is_same_v<std::iter_reference_t<Index>, std::vector<bool>::reference>;

/// Calls body(f, l) for parts that together are [first, last).
template <class Index, class Body>
void loop(const Index& first, const Index& last, Body& body) {
  const std::uint64_t n = pstl::distance(first, last);
  if (n == 0) return;
  if constexpr (shares_words<Index>) {
    return pstl::ends_by_exception([&] { body(first, last); });
  }
  auto blocks = [&](std::uint64_t from, std::uint64_t to) { pstl::run_part(body, pstl::place(first, from), pstl::place(first, to)); };
  const std::uint64_t done = pstl::ends_by_exception([&] { return core::run_unasked(blocks, n, 1, core::cost_of<Body>); });
  if (done == n) return;
  pstl::undisturbed([&] {
    core::loop rest{core::run_block_of<decltype(blocks)>, &blocks, n, 1, false, core::cost_of<Body>};
    rest.from = done;
    core::run_loop(rest);
  });
}

/// Calls body(from, to) for blocks of exactly `size` of n elements, but for the last. The type `Site` identifies what an element costs.
template <class Site, class Body>
void loop_exactly(std::uint64_t n, std::uint64_t size, Body&& body) {
  core::run_blocks<Site>(n, grain{static_cast<std::size_t>(size)}, true, body);
}

/// A reduction in parts that follow the cost of elements, in order: where no grouping gives another result, or any result may be returned.
/// `More`: T more(f, l, so_far). `Leaf`: T leaf(f, l), at least `least` elements. `Join`: T join(T&&, T&&).
template <class T, class Index, class More, class Leaf, class Join>
class reduction {
 public:
  reduction(const Index& first, std::uint64_t n, std::uint64_t least, More& more, Leaf& leaf, Join& join, iteration_cost& cost)
      : first_{first}, n_{n}, least_{least}, more_{more}, leaf_{leaf}, join_{join}, cost_{cost} {}

  /// `counts`: so_far is a part of the result; else it is an identity, which the library's joins do not take.
  T run(T so_far, bool counts) {
    const std::uint64_t done = alone(so_far);
    if (done == n_) return so_far;
    if (done == 0 && !counts) return shared(done);
    return join_(std::move(so_far), shared(done));
  }

 private:
  // Some parts for each worker: joins may take as long as the elements that they join, as in a partition, and a search for the least element
  // compares once more for each part. Numbers are only counted or summed up.
  static constexpr std::uint64_t parts_of_a_worker = std::is_arithmetic_v<T> ? 32 : 8;

  // Runs elements here until that is not worth it any more, and returns how many: all, if no thread would share the rest.
  std::uint64_t alone(T& so_far) {
    if (shares_by_schedule() || begins_inside()) return 0;
    const double known = cost_.ticks();
    const double all = known * static_cast<double>(n_);
    if (all >= loop_tuning::worth_a_wake() && n_ >= 2 * least_ && worth_sharing(loop_tuning::long_enough(), all)) return 0;
    const double target = loop_tuning::block() * static_cast<double>(loop_tuning::longest_block);
    const std::uint64_t began = loop_ticks();
    std::uint64_t block = known > 0 ? of_time(loop_tuning::glimpse(), known) : 1;
    std::uint64_t done = 0;
    while (done != n_) {
      let_due_run_between_blocks();
      block = std::min(block, n_ - done);
      const std::uint64_t before = loop_ticks();
      so_far = more_(pstl::place(first_, done), pstl::place(first_, done + block), std::move(so_far));
      done += block;
      const std::uint64_t now = loop_ticks();
      const double cost = static_cast<double>(std::max<std::uint64_t>(now - before, 1)) / static_cast<double>(block);
      const std::uint64_t left = n_ - done;
      if (left < least_ * 2 && left > 0) {
        block = left;
        continue;
      }
      if (left == 0) {
        cost_.learn(static_cast<double>(now - began) / static_cast<double>(n_));
        ended_alone(began);
      } else if (worth_sharing(static_cast<double>(now - began), cost * static_cast<double>(left))) {
        cost_.learn(cost);
        return done;
      }
      block = std::min(of_time(target, cost), block * static_cast<std::uint64_t>(loop_tuning::most_growth));
      if constexpr (!std::is_arithmetic_v<T>) block = std::max(block, done / 2);  // to join it takes as long as `done`, in a partition
    }
    return done;
  }
  static std::uint64_t of_time(double ticks, double cost) { return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ticks / cost)); }

  T shared(std::uint64_t from) {
    if (core::current_or_null() == nullptr) {
      eventually<T> result;
      core::run_in_default_pool([&] { result.emplace(shared(from)); });
      return std::move(*result);
    }
    const std::uint64_t left = n_ - from;
    const std::uint64_t parts = std::clamp<std::uint64_t>(left / least_, 1, parts_of_a_worker * core::current()->pool().size());
    const auto begin_of = [&](std::uint64_t part) { return from + left / parts * part + std::min(part, left % parts); };
    auto leaf = [&](std::uint64_t part) { return leaf_(pstl::place(first_, begin_of(part)), pstl::place(first_, begin_of(part + 1))); };
    fixed_tree<T, decltype(leaf), Join> tree{parts, left / parts, leaf, join_, cost_};
    return tree.run();
  }

  const Index& first_;
  const std::uint64_t n_;
  const std::uint64_t least_;
  More& more_;
  Leaf& leaf_;
  Join& join_;
  iteration_cost& cost_;
};

/// join of body(f, l, identity) for parts [f, l) that together are [first, last), in order.
template <class T, class Index, class Body, class Join>
T reduce(const Index& first, const Index& last, const T& identity, const Body& body, const Join& join) {
  const std::uint64_t n = pstl::distance(first, last);
  if (n == 0) return identity;
  if constexpr (shares_words<Index>) {
    return pstl::ends_by_exception([&]() -> T { return body(first, last, identity); });
  }
  return pstl::undisturbed([&]() -> T {
    auto more = [&](Index from, Index to, T so_far) -> T { return body(from, to, std::move(so_far)); };
    auto leaf = [&](Index from, Index to) -> T { return body(from, to, identity); };
    auto joined = [&](T&& left, T&& right) -> T { return join(std::move(left), std::move(right)); };
    return reduction<T, Index, decltype(more), decltype(leaf), decltype(joined)>{first, n, 1, more, leaf, joined, cost_of<summed<Body>>}
        .run(identity, false);
  });
}

/// As core::leaf_size, but 125 leaves do where there are few elements: a leaf takes tens of nanoseconds.
constexpr std::uint64_t leaf_of_sum(std::uint64_t n) noexcept {
  constexpr std::uint64_t leaves = 125;
  constexpr std::uint64_t longest = 64;
  return std::max(core::leaf_size(n), std::min(n / leaves, longest));
}

/// Are real numbers summed up, by an operation that is known, from functions so plain that each element may have a copy of its own? Then the
/// leaves of nopal::reduce do it: they are longer, and keep several sums at once.
template <class T, class Make, class Join, class Made>
inline constexpr bool sums_numbers = std::is_floating_point_v<T> && commutes<Join, T> && can_be_kept<std::remove_cvref_t<Made>> &&
                                     std::is_trivially_copyable_v<Make> && std::is_copy_constructible_v<Make> && sizeof(Make) <= 64;

/// May a sum begin as a T of one element alone? Of another type than T, an element need not mean that T (a number is the size of a vector),
/// and an operation may take it in another way than a T: two elements joined are a sum. But known operations take numbers as Ts. And where
/// two numbers joined are no T (`a + b` of ints, summed up as a long), a T of one of them is the more exact.
template <class T, class Join, class Made>
constexpr bool begins_with_one() {
  if constexpr (!std::is_constructible_v<T, Made>) {
    return false;
  } else if constexpr (std::is_same_v<T, std::remove_cvref_t<Made>> || commutes<std::remove_cv_t<Join>, T> ||
                       !std::is_invocable_v<Join&, Made, Made>) {
    return true;
  } else {
    return std::is_arithmetic_v<T> && std::is_arithmetic_v<std::remove_cvref_t<Made>> &&
           !std::is_same_v<T, std::remove_cvref_t<std::invoke_result_t<Join&, Made, Made>>>;
  }
}

/// init and make(i) of each i in [first, last), joined. `more(f, l, so_far)`: so_far with those of [f, l). What is no whole number is
/// joined by a tree that depends on the number of elements alone: then a rounded sum has the same bits each time.
template <class T, class Index, class Make, class Join, class More>
T transform_reduce(const Index& first, const Index& last, const Make& make, T init, Join& join, More& more) {
  const std::uint64_t n = pstl::distance(first, last);
  if (n == 0) return init;
  using made = std::invoke_result_t<Make&, Index>;
  constexpr std::uint64_t least = pstl::begins_with_one<T, Join, made>() ? 1 : 2;
  return pstl::undisturbed([&]() -> T {
    auto leaf = [&](Index from, Index to) -> T {
      Make mine = make;  // it may change itself
      if constexpr (least == 1) {
        T sum = static_cast<T>(mine(from));
        ++from;
        return from == to ? sum : static_cast<T>(more(from, to, std::move(sum)));
      } else {
        Index second = from;
        ++second;
        T sum = static_cast<T>(join(mine(from), mine(second)));
        ++second;
        return second == to ? sum : static_cast<T>(more(second, to, std::move(sum)));
      }
    };
    auto joined = [&](T&& left, T&& right) -> T { return core::joined<T>(join, std::move(left), std::move(right)); };
    if (n < 2 * least) return static_cast<T>(more(first, last, std::move(init)));
    if constexpr (sums_numbers<T, Make, Join, made>) {
      auto each = [&](std::uint64_t k, auto&& use) -> decltype(auto) {
        Make mine = make;  // it may change itself
        return use(mine(pstl::place(first, k)));
      };
      return core::reduce_by_number<summed<Make, More>, false>(n, std::move(init), join, each, grain{0});
    }
    iteration_cost& cost = cost_of<summed<Make, More>>;
    if constexpr (std::is_integral_v<T>) {
      return reduction<T, Index, More, decltype(leaf), decltype(joined)>{first, n, least, more, leaf, joined, cost}.run(std::move(init),
                                                                                                                        true);
    } else {
      const std::uint64_t size = std::max(least, pstl::leaf_of_sum(n));
      const std::uint64_t leaves = n / size;  // what is left goes to the last
      auto numbered = [&](std::uint64_t k) -> T {
        return leaf(pstl::place(first, k * size), k + 1 == leaves ? last : pstl::place(first, (k + 1) * size));
      };
      return joined(std::move(init), fixed_tree<T, decltype(numbered), decltype(joined)>{leaves, size, numbered, joined, cost}.run());
    }
  });
}

/// Sums of blocks, [1] to [n], become those of all blocks up to each, with `init` before the first.
template <class Site, class T, class Join>
void sum_up(std::vector<std::optional<T>>& sums, T init, Join& join) {
  sums[1].emplace(core::joined<T>(join, std::as_const(init), std::move(*sums[1])));
  sums[0].emplace(std::move(init));
  algorithms::sum_up_behind<Site>(sums, join);
}

/// How a scan cuts its elements: a first block, then blocks of `size`.
struct scan_cut {
  static constexpr std::uint64_t fine_blocks = 128;

  std::uint64_t n;
  std::uint64_t first;
  std::uint64_t size;

  /// As scan_blocks: by the number of elements alone. `finely`: so that few dear elements keep many workers busy; quick ones then need
  /// longer blocks.
  scan_cut(std::uint64_t elements, bool finely) : n{elements}, first{algorithms::scan_blocks(elements, false).size} {
    if (finely) first = std::clamp<std::uint64_t>(n / fine_blocks, 1, first);
    first = std::min(first, n);
    size = first;
  }
  [[nodiscard]] std::uint64_t count() const { return 1 + (n - first + size - 1) / size; }
  [[nodiscard]] std::uint64_t block(std::uint64_t element) const { return element < first ? 0 : 1 + (element - first) / size; }
};

/// Scans elements that are quick, by what earlier scans have cost, in parts of some microseconds, where no grouping gives another result: a
/// sum, a copy of it and two calls for each part take tens of nanoseconds. Of an operation on sets, `searches`, it takes more: the library finds
/// each part's end, and the other range's part, by binary searches in all elements, which take a microsecond or two. Runs begin(from, to) for
/// the first block, as short as if elements were dear, to see whether they still are quick. Returns whether it has run. `reducing`,
/// `scanning`: what an element has cost.
template <bool searches, class Begin>
bool begin_quick_scan(scan_cut& cut, const iteration_cost& reducing, const iteration_cost& scanning, const Begin& begin) {
  const double known = std::max(reducing.ticks(), scanning.ticks());
  if (!(reducing.ticks() > 0 && scanning.ticks() > 0) || shares_by_schedule() || begins_inside()) return false;
  const auto taking = [&](int blocks) { return static_cast<std::uint64_t>(blocks * loop_tuning::block() / known); };
  constexpr int least = searches ? 8 : 4;
  const std::uint64_t size = searches ? std::clamp(cut.n / 32, taking(least), taking(64)) : taking(least);
  if (size <= cut.size) return false;
  let_due_run_between_blocks();
  const std::uint64_t began = loop_ticks();
  begin(0, cut.first);
  if (static_cast<double>(loop_ticks() - began) < least * loop_tuning::block()) cut.size = std::min(size, cut.n);
  return true;
}

/// Calls body(from, to) for the blocks behind the first. `Site` identifies what an element costs.
template <class Site, class Body>
void loop_behind_first(const scan_cut& cut, const Body& body) {
  const std::uint64_t left = cut.n - cut.first;
  if (left == 0) return;
  if (left <= cut.size) {
    const std::uint64_t began = loop_ticks();
    body(cut.first, cut.n);
    return cost_of<Site>.learn(static_cast<double>(std::max<std::uint64_t>(loop_ticks() - began, 1)) / static_cast<double>(left));
  }
  pstl::loop_exactly<Site>(left, cut.size, [&](std::uint64_t from, std::uint64_t to) { body(cut.first + from, cut.first + to); });
}

/// Is T what the library sums up in an operation on sets?
template <class T>
inline constexpr bool is_of_sets = requires(T part) { part.__buf_pos; };

/// Calls, for blocks of n elements: reduce(begin, length) for its sum, then once apex(sum of init and all blocks), then scan(begin, length,
/// sum before the block). Each once for a block. Blocks depend on the number of elements alone where the sum is a real number; the library
/// sums up counts and places else.
template <class Index, class T, class Reduce, class Join, class Scan, class Apex>
void strict_scan(Index n, T init, const Reduce& reduce, Join& join, const Scan& scan, const Apex& apex) {
  if (n <= 0) {
    apex(init);
    return;
  }
  using reducing = scanned<Reduce, T>;
  using scanning = scanned<Scan, T>;
  pstl::undisturbed([&] {
    const auto count = static_cast<std::uint64_t>(n);
    scan_cut cut{count, !std::is_floating_point_v<T>};
    std::optional<T> first_sum;
    const auto begin = [&](std::uint64_t from, std::uint64_t to) {
      first_sum.emplace(reduce(static_cast<Index>(from), static_cast<Index>(to - from)));
    };
    const bool begun =
        !std::is_floating_point_v<T> && pstl::begin_quick_scan<is_of_sets<T>>(cut, cost_of<reducing>, cost_of<scanning>, begin);
    std::vector<std::optional<T>> sums(cut.count() + 1);
    auto sum = [&](std::uint64_t from, std::uint64_t to) {
      sums[cut.block(from) + 1].emplace(reduce(static_cast<Index>(from), static_cast<Index>(to - from)));
    };
    auto write = [&](std::uint64_t from, std::uint64_t to) {
      scan(static_cast<Index>(from), static_cast<Index>(to - from), *sums[cut.block(from)]);
    };
    if (begun) {
      sums[1] = std::move(first_sum);
      pstl::loop_behind_first<reducing>(cut, sum);
    } else {
      pstl::loop_exactly<reducing>(count, cut.size, sum);
    }
    pstl::sum_up<scanned<Join, Reduce, T>>(sums, std::move(init), join);
    apex(*sums[cut.count()]);
    if (begun) {
      write(0, cut.first);
      pstl::loop_behind_first<scanning>(cut, write);
    } else {
      pstl::loop_exactly<scanning>(count, cut.size, write);
    }
  });
}

/// Calls scan(f, l, so_far). A function of its own, as run_part.
template <class T, class Index, class Scan>
[[gnu::noinline]] T scan_part(const Scan& scan, Index f, Index l, T so_far) {
  return scan(f, l, std::move(so_far));
}

/// For blocks of n elements: `make(i)` joined by more(f, l, so_far), then scan(f, l, sum before the block), which returns that up to its
/// end. Returns the sum of all. Blocks depend on the number of elements alone, but for whole numbers.
template <class Index, class T, class Make, class Join, class More, class Scan>
T transform_scan(Index n, const Make& make, T init, Join& join, const More& more, const Scan& scan) {
  if (n <= 0) return init;
  using reducing = scanned<Make, More, T>;
  using scanning = scanned<Scan, T>;
  return pstl::undisturbed([&]() -> T {
    const auto count = static_cast<std::uint64_t>(n);
    scan_cut cut{count, std::is_integral_v<T>};
    std::uint64_t done = 0;  // elements before it are written, and `init` is the sum up to there
    if constexpr (std::is_integral_v<T>) {
      const auto write = [&](std::uint64_t from, std::uint64_t to) {
        init = pstl::scan_part(scan, static_cast<Index>(from), static_cast<Index>(to), init);
        done = to;
      };
      if (pstl::begin_quick_scan<false>(cut, cost_of<reducing>, cost_of<scanning>, write) && count - done <= cut.size) {
        pstl::loop_behind_first<scanning>(cut, write);
        return init;
      }
    }
    if (done == 0 && cut.count() == 1) return pstl::scan_part(scan, Index{0}, n, std::move(init));
    const std::uint64_t left = count - done;
    const std::uint64_t blocks = (left - 1) / cut.size + 1;
    std::vector<std::optional<T>> sums(blocks);  // [block + 1]: the block's own; in the end [block]: that of all before it
    std::optional<T> all;
    const auto sum_of = [&](std::uint64_t from, std::uint64_t to) {
      Make mine = make;  // it may change itself
      T sum = static_cast<T>(mine(static_cast<Index>(done + from)));
      if (to - from > 1) sum = static_cast<T>(more(static_cast<Index>(done + from + 1), static_cast<Index>(done + to), std::move(sum)));
      return sum;
    };
    // As in nopal's scans: where elements are quick, whoever comes to the next block in order writes it at once. The number of blocks that
    // are written: who loads it with acquire, from the release store of the one before, has `before`, `groups` and `all`.
    const double ticks = cost_of<reducing>.ticks();
    const bool in_order = ticks > 0 && !algorithms::is_slow(ticks, count);
    std::optional<T> before = std::as_const(init);  // the sum of all that is written
    algorithms::sums_in_order<T> groups{std::is_integral_v<T> ? 0 : blocks};
    std::atomic<std::uint64_t> written{0};
    pstl::loop_exactly<reducing>(left, cut.size, [&](std::uint64_t from, std::uint64_t to) {
      const std::uint64_t block = from / cut.size;
      const auto write = [&](T so_far) {
        return pstl::scan_part(scan, static_cast<Index>(done + from), static_cast<Index>(done + to), std::move(so_far));
      };
      if (!in_order || written.load(std::memory_order_acquire) != block) {
        if (to != left) sums[block + 1].emplace(sum_of(from, to));
        return;
      }
      if constexpr (std::is_integral_v<T>) {
        before.emplace(write(*before));
        if (to == left) all = before;
      } else if (to == left) {
        all.emplace(write(*std::move(before)));
      } else {
        T sum(std::as_const(sums[block + 1].emplace(sum_of(from, to))));
        write(*std::as_const(before));
        if (block == 0) sum = core::joined<T>(join, std::as_const(init), std::move(sum));
        before.emplace(groups.up_to(block, std::move(sum), before, join));
      }
      written.store(block + 1, std::memory_order_release);
    });
    const std::uint64_t first_left = written.load(std::memory_order_relaxed);  // the loop has ended
    if (first_left == blocks) {
      if (in_order) cost_of<scanning>.learn(cost_of<reducing>.ticks());  // else what it has cost once, in cold memory, would hold for ever
      return std::move(*all);
    }
    const std::uint64_t behind = first_left * cut.size;
    if constexpr (std::is_integral_v<T>) {
      sums[first_left] = std::move(before);
      for (std::uint64_t block = first_left + 1; block < blocks; ++block) {
        sums[block].emplace(core::joined<T>(join, T(*sums[block - 1]), std::move(*sums[block])));
      }
    } else {
      pstl::sum_up<scanned<Join, Make, T>>(sums, std::move(init), join);
    }
    pstl::loop_exactly<scanning>(left - behind, cut.size, [&](std::uint64_t from, std::uint64_t to) {
      from += behind;
      to += behind;
      T sum = pstl::scan_part(scan, static_cast<Index>(done + from), static_cast<Index>(done + to), std::move(*sums[from / cut.size]));
      if (to == left) all.emplace(std::move(sum));
    });
    return std::move(*all);
  });
}

/// Sorts [first, last).
template <algorithms::parallel_iterator I, class Comp>
void sort_unstably(const I& first, const I& last, Comp& comp) {
  if (last - first < 2) return;
  std::identity itself;
  pstl::undisturbed([&] { algorithms::sort_all(algorithms::plain_iterator(first), static_cast<std::size_t>(last - first), comp, itself); });
}

/// Sorts [first, last), stably; if `sorted` is not 0, only its first `sorted` elements need be in place. Then leaf(f, l, comp) is called for
/// parts of the range before any is compared, since it may bring the elements.
template <class I, class Comp, class Leaf>
void sort(const I& first, const I& last, Comp& comp, const Leaf& leaf, std::size_t sorted) {
  if (!(last - first > 0)) return;
  if constexpr (algorithms::parallel_iterator<I>) {
    const auto n = static_cast<std::size_t>(last - first);
    std::identity itself;
    if (sorted != 0) {  // a sort of one element compares nothing
      auto bring = [&](I from, I to) {
        for (; from != to; ++from) leaf(from, from + 1, comp);
      };
      pstl::loop(first, last, bring);
    }
    pstl::undisturbed([&] {
      const auto plain = algorithms::plain_iterator(first);
      if (sorted == 0 || sorted >= n) return algorithms::stable_sort_all(plain, n, comp, itself);
      algorithms::select_first(plain, sorted, n, algorithms::projected_less<Comp, std::identity>{comp, itself});
      algorithms::sort_all(plain, sorted, comp, itself);
    });
  } else {  // elements that are no objects: two threads might write one word
    pstl::ends_by_exception([&] { leaf(first, last, comp); });
  }
}

/// Calls the leaf of a merge. A function of its own, as run_part.
template <class Leaf, class I1, class I2, class O, class Comp>
[[gnu::noinline]] void merge_part(const Leaf& leaf, I1 f1, I1 l1, I2 f2, I2 l2, O out, Comp& comp) {
  leaf(f1, l1, f2, l2, out, comp);
}

/// The least part of a merge whose comparisons do not take long.
inline constexpr std::size_t quick_merge_block = 2 * algorithms::least_merge_block;

/// Calls leaf(f1, l1, f2, l2, out, comp) for parts of two sorted ranges. All cuts are found before any part is merged: a leaf may move
/// elements away.
template <class I1, class I2, class O, class Comp, class Leaf>
void merge(const I1& first1, const I1& last1, const I2& first2, const I2& last2, const O& out, Comp& comp, const Leaf& leaf) {
  const auto n1 = static_cast<std::size_t>(pstl::distance(first1, last1));
  const auto n2 = static_cast<std::size_t>(pstl::distance(first2, last2));
  const std::size_t n = n1 + n2;
  if (n == 0) return;
  const auto part = [&](std::size_t from1, std::size_t to1, std::size_t from2, std::size_t to2) {
    pstl::merge_part(leaf, pstl::place(first1, from1), pstl::place(first1, to1), pstl::place(first2, from2), pstl::place(first2, to2),
                     pstl::place(out, from1 + from2), comp);
  };
  pstl::undisturbed([&] {
    const auto is_before = [&](auto&& of_second, auto&& of_first) { return static_cast<bool>(comp(of_second, of_first)); };
    using site = algorithms::merge_pack<I1, I2, Comp, Leaf>;
    if (n1 > 0 && n2 > 0 && algorithms::turns_out_slow<site>(n, [&] { static_cast<void>(is_before(*first2, *first1)); })) {
      algorithms::merge_slowly<site, true>(first1, n1, first2, n2, is_before, part);
      return;
    }
    const algorithms::blocks cut{n, quick_merge_block};
    if (cut.count == 1) return part(0, n1, 0, n2);
    std::vector<std::size_t> lefts(cut.count + 1, n1);
    lefts[0] = 0;
    algorithms::loop_at<algorithms::merge_search<site>>(cut.count - 1, [&](std::size_t from, std::size_t to) {
      for (; from != to; ++from) lefts[from + 1] = algorithms::from_left_of_first(cut.begin(from + 1), first1, n1, first2, n2, is_before);
    });
    // Clamped: ranges that are not sorted may contradict themselves.
    for (std::size_t k = 1; k < cut.count; ++k)
      lefts[k] = std::clamp(lefts[k], lefts[k - 1], lefts[k - 1] + (cut.begin(k) - cut.begin(k - 1)));
    algorithms::loop_at<algorithms::merge_part<site>>(cut.count, [&](std::size_t from, std::size_t to) {
      for (; from != to; ++from) part(lefts[from], lefts[from + 1], cut.begin(from) - lefts[from], cut.end(from) - lefts[from + 1]);
    });
  });
}

/// Calls both, which may run at once.
template <class F, class G>
void both(F& f, G& g) {
  pstl::undisturbed([&] { nopal::parallel_invoke([&] { f(); }, [&] { g(); }); });
}

}  // namespace nopal::core::pstl
