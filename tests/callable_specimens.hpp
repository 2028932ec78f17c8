#pragma once

// All that can be called without arguments in C++, each in its own type: give(use) calls use with the callable, by name or as a temporary.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "callable_parts.hpp"

namespace callables {

/// by_value: its receiver can keep it. for_fibers: spawn accepts it. drops: its result is discarded, so only functions that discard results
/// accept it.
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
  static void give(auto use) {
    use(std::function<void()>{[n = 3L] { called(n == 3); }});
  }
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
  static void give(auto use) {
    use(move_only_callable{[p = std::make_unique<int>(3)] { called(*p == 3); }});
  }
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
/// As std::invoke would choose for what was given.
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
/// Can be made from anything, so that a copy from an object with a name would use another constructor.
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

}  // namespace callables
