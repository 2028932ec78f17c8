#pragma once

// Whatever can be called without arguments in C++, each in its own type: what strangers hand to the library. Each counts its calls in
// `calls`, and in `damaged` those that found their captures changed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "nopal/pool.hpp"

namespace callables {

inline std::atomic<int> calls{0};
inline std::atomic<int> damaged{0};
inline void called(bool whole = true) {
  if (!whole) ++damaged;
  ++calls;
}

inline void function() { called(); }
inline void quiet_function() noexcept { called(); }
[[nodiscard]] inline int function_not_to_discard() {
  called();
  return 1;
}

/// Refuses to be copied, and is nothing but its bits: a file descriptor, a handle.
struct handle {
  explicit handle(long n) : value{n} {}
  handle(handle&&) = default;
  handle& operator=(handle&&) = default;
  long value;
};
static_assert(std::is_trivially_copyable_v<handle> && !std::is_copy_constructible_v<handle>);

/// Neither moved nor copied.
struct immovable {
  explicit immovable(int n) : value{n} {}
  immovable(immovable&&) = delete;
  int value;
};

/// Moved only, as std::move_only_function is.
class move_only_callable {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, move_only_callable>)
  explicit move_only_callable(F f) : what_{new held<F>{std::move(f)}} {}
  void operator()() { what_->call(); }

 private:
  struct anything {
    virtual ~anything() = default;
    virtual void call() = 0;
  };
  template <class F>
  struct held final : anything {
    explicit held(F f) : f_{std::move(f)} {}
    void call() override { f_(); }
    F f_;
  };
  std::unique_ptr<anything> what_;
};

struct [[nodiscard]] not_to_be_discarded {};

/// Nothing that takes its address by &, or puts a comma behind it, gets what it expects.
struct hostile {
  void operator&() const = delete;
  template <class T>
  friend void operator,(hostile const&, T&&) = delete;
  template <class T>
  friend void operator,(T&&, hostile const&) = delete;
};

template <std::size_t Bytes, std::size_t Alignment = 1>
struct alignas(Alignment) block {
  std::array<unsigned char, Bytes> all;
  block() { std::iota(all.begin(), all.end(), static_cast<unsigned char>(1)); }
  bool whole() const {
    for (std::size_t i = 0; i < Bytes; ++i) {
      if (all[i] != static_cast<unsigned char>(1 + i)) return false;
    }
    return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0;
  }
};

/// Copies and moves that are not the copies of bytes.
struct counted_copies {
  counted_copies() = default;
  counted_copies(counted_copies const& o) : self{this}, intact{o.whole()} {}
  counted_copies(counted_copies&& o) noexcept : self{this}, intact{o.whole()} {}
  counted_copies* self = this;
  bool intact = true;
  bool whole() const { return self == this && intact; }
};

// ---- The specimens: give(use) calls use with the callable, by name or as a temporary.
// by_value: it can be kept by whoever is given it. for_fibers: spawn takes it. drops: its result is for nobody, so only what drops
// results takes it.
struct specimen {
  static constexpr bool by_value = true;
  static constexpr bool for_fibers = true;
  static constexpr bool drops = false;
};

struct plain_function : specimen {
  static void give(auto use) { use(function); }
};
struct noexcept_function : specimen {
  static void give(auto use) { use(quiet_function); }
};
struct function_pointer : specimen {
  static void give(auto use) { use(&function); }
};
struct named_function_pointer : specimen {
  static void give(auto use) {
    void (*const f)() noexcept = quiet_function;
    use(f);
  }
};
struct nodiscard_function : specimen {
  static void give(auto use) { use(function_not_to_discard); }
};
struct captureless : specimen {
  static void give(auto use) {
    use([] { called(); });
  }
};
struct named_closure : specimen {
  static void give(auto use) {
    int n = 3;
    auto f = [&n] { called(n == 3); };
    use(f);
  }
};
struct const_closure : specimen {
  static void give(auto use) {
    int n = 3;
    auto const f = [n] { called(n == 3); };
    use(f);
  }
};
struct const_temporary : specimen {
  static void give(auto use) {
    long n = 3, m = 4;
    auto const f = [n, m] { called(n == 3 && m == 4); };
    use(std::move(f));
  }
};
struct mutable_closure : specimen {
  static void give(auto use) {
    long n = 3;
    use([n]() mutable { called(n++ == 3); });
  }
};
struct generic_closure : specimen {
  static void give(auto use) {
    use([](auto... none) { called(sizeof...(none) == 0); });
  }
};
struct with_default_argument : specimen {
  static void give(auto use) {
    use([](int n = 3) { called(n == 3); });
  }
};
struct std_function : specimen {
  static void give(auto use) { use(std::function<void()>{[n = 3L] { called(n == 3); }}); }
};
struct named_std_function : specimen {
  static void give(auto use) {
    std::function<void()> const f{function};
    use(f);
  }
};
struct bound : specimen {
  static void give(auto use) {
    use(std::bind([](int n, long m) { called(n == 3 && m == 4); }, 3, 4L));
  }
};
struct by_reference_wrapper : specimen {
  static void give(auto use) {
    auto f = [n = 3]() mutable { called(n == 3); };
    use(std::ref(f));
  }
};
struct move_only : specimen {
  static void give(auto use) { use(move_only_callable{[p = std::make_unique<int>(3)] { called(*p == 3); }}); }
};
struct named_move_only : specimen {
  static constexpr bool by_value = false;
  static void give(auto use) {
    move_only_callable f{function};
    use(f);
  }
};
struct unique_capture : specimen {
  static void give(auto use) {
    use([p = std::make_unique<int>(3)] { called(*p == 3); });
  }
};
struct handle_capture : specimen {
  static void give(auto use) {
    use([h = handle{3}, p = &calls] { called(h.value == 3 && p == &calls); });
  }
};
struct small_handle_capture : specimen {
  static void give(auto use) {
    use([h = handle{3}] { called(h.value == 3); });
  }
};
struct named_handle_capture : specimen {
  static constexpr bool by_value = false;
  static void give(auto use) {
    auto f = [h = handle{3}]() mutable { called(h.value++ == 3); };
    use(f);
  }
};
struct immovable_capture : specimen {
  static constexpr bool by_value = false;
  static void give(auto use) {
    use([h = immovable{3}] { called(h.value == 3); });
  }
};
template <std::size_t Bytes>
struct large : specimen {
  static void give(auto use) {
    use([b = block<Bytes>{}] { called(b.whole()); });
  }
};
template <std::size_t Alignment>
struct aligned : specimen {
  static constexpr bool for_fibers = Alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static void give(auto use) {
    use([b = block<Alignment, Alignment>{}] { called(b.whole()); });
  }
};
template <std::size_t Alignment>
struct aligned_and_copied : specimen {
  static constexpr bool for_fibers = false;
  static void give(auto use) {
    use([b = block<40, Alignment>{}, c = counted_copies{}] { called(b.whole() && c.whole()); });
  }
};
struct copied_by_constructor : specimen {
  static void give(auto use) {
    use([c = counted_copies{}] { called(c.whole()); });
  }
};

struct when_named {
  void operator()() & { called(n == 3); }
  long n = 3, m = 4;
};
struct when_const {
  void operator()() const& noexcept { called(n == 3); }
  long n = 3, m = 4;
};
struct when_temporary {
  void operator()() && { called(n == 3); }
  long n = 3, m = 4;
};
struct when_const_temporary {
  void operator()() const&& noexcept { called(n == 3); }
  std::unique_ptr<int> moved_only = std::make_unique<int>(1);
  long n = 3;
};
struct lvalue_qualified : specimen {
  static void give(auto use) {
    when_named f;
    use(f);
  }
};
struct const_lvalue_qualified : specimen {
  static void give(auto use) { use(when_const{}); }
};
struct rvalue_qualified : specimen {
  static void give(auto use) { use(when_temporary{}); }
};
struct const_rvalue_qualified : specimen {
  static void give(auto use) { use(when_const_temporary{}); }
};
/// As std::invoke of what was given would choose.
struct qualified_either_way : specimen {
  struct either {
    void operator()() & { called(false); }
    void operator()() const& { called(false); }
    void operator()() && { called(n == 3); }
    long n = 3, m = 4;
  };
  static void give(auto use) { use(either{}); }
};
struct final_class : specimen {
  struct last final {
    void operator()() const { called(n == 3); }
    int n = 3;
  };
  static void give(auto use) { use(last{}); }
};
struct empty_final_class : specimen {
  struct last final {
    void operator()() const { called(); }
  };
  static void give(auto use) { use(last{}); }
};
struct hostile_class : specimen {
  struct callable : hostile {
    hostile operator()() const {
      called(n == 3 && m == 4);
      return {};
    }
    long n = 3, m = 4;
  };
  static void give(auto use) { use(callable{}); }
};
struct named_hostile_class : specimen {
  static void give(auto use) {
    hostile_class::callable f;
    use(f);
  }
};
/// Made from anything, so that a copy from an object with a name would be another constructor's.
struct greedy : specimen {
  struct callable {
    callable() = default;
    callable(callable const&) = default;
    callable(callable&&) = default;
    template <class T>
    explicit callable(T&&) : n{0} {}
    void operator()() { called(n == 3); }
    long n = 3, m = 4;
  };
  static void give(auto use) { use(callable{}); }
};

struct nodiscard_result : specimen {
  static void give(auto use) {
    use([] {
      called();
      return not_to_be_discarded{};
    });
  }
};
struct reference_result : specimen {
  static void give(auto use) {
    use([]() -> std::atomic<int>& {
      called();
      return calls;
    });
  }
};
struct rvalue_reference_result : specimen {
  static void give(auto use) {
    use([]() -> std::atomic<int>&& {
      called();
      return std::move(calls);
    });
  }
};
struct move_only_result : specimen {
  static void give(auto use) {
    use([] {
      called();
      return std::make_unique<int>(3);
    });
  }
};
struct aligned_result : specimen {
  static void give(auto use) {
    use([] {
      called();
      return block<64, 64>{};
    });
  }
};
struct large_result : specimen {
  static void give(auto use) {
    use([] {
      called();
      return block<4096>{};
    });
  }
};
struct const_member_result : specimen {
  struct unassignable {
    int const n;
  };
  static void give(auto use) {
    use([] {
      called();
      return unassignable{3};
    });
  }
};
struct immovable_result : specimen {
  static constexpr bool drops = true;
  static void give(auto use) {
    use([] {
      called();
      return immovable{3};
    });
  }
};

/// For tests that hand a specimen to something, and see that it was called once, and whole.
template <class Specimen>
class fixture : public testing::Test {
 protected:
  fixture() { calls = damaged = 0; }
  /// Specimen::give(use), on a worker of a pool of several.
  template <class Use>
  void on_pool(Use use) {
    pool_.run([&] { Specimen::give(use); });
  }
  void expect(int n) {
    EXPECT_EQ(calls, n);
    EXPECT_EQ(damaged, 0);
    calls = 0;
  }
  nopal::pool pool_{{.workers = 3}};
};

using all = testing::Types<plain_function, noexcept_function, function_pointer, named_function_pointer,
                           nodiscard_function, captureless, named_closure, const_closure, const_temporary,
                           mutable_closure, generic_closure, with_default_argument, std_function, named_std_function,
                           bound, by_reference_wrapper, move_only, named_move_only, unique_capture, handle_capture,
                           small_handle_capture, named_handle_capture, immovable_capture, large<200>, large<4096>,
                           aligned<32>, aligned<64>, aligned_and_copied<32>, aligned_and_copied<64>,
                           copied_by_constructor, lvalue_qualified, const_lvalue_qualified, rvalue_qualified,
                           const_rvalue_qualified, qualified_either_way, final_class, empty_final_class,
                           hostile_class, named_hostile_class, greedy, nodiscard_result, reference_result,
                           rvalue_reference_result, move_only_result, aligned_result, large_result,
                           const_member_result, immovable_result>;

}  // namespace callables
