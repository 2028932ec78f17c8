#pragma once

// Values that do what a library does not expect: it must move and copy them as the language's own copies do, and access nothing else.

#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace test::hostile {

/// The number of values whose copies or moves went wrong.
inline constexpr long broken = -1'000'000;

/// Each has H::make(n), which returns a value with get() == n.

/// Its template is a better match than its copy constructor if the copied object is not const.
struct greedy {
  long n;
  static greedy make(long n) { return greedy{n, 0}; }
  [[nodiscard]] long get() const { return n; }
  greedy(long value, int) : n{value} {}
  template <class U>
  greedy(U&&) : n{broken} {}  // NOLINT(bugprone-forwarding-reference-overload,google-explicit-constructor): what is tried
  template <class U>
  greedy& operator=(U&&) {
    n = broken;
    return *this;
  }
  greedy(greedy const&) = default;
  greedy(greedy&&) = default;
  greedy& operator=(greedy const&) = default;
  greedy& operator=(greedy&&) = default;
};
/// A copy of a non-const object differs from that of a const one.
struct two_copies {
  long n;
  static two_copies make(long n) { return two_copies{n, 0}; }
  [[nodiscard]] long get() const { return n; }
  two_copies(long value, int) : n{value} {}
  two_copies(two_copies&) noexcept : n{broken} {}
  two_copies(two_copies const&) = default;
  two_copies(two_copies&&) = default;
  two_copies& operator=(two_copies& o) noexcept {
    n = broken - o.n;
    return *this;
  }
  two_copies& operator=(two_copies const&) = default;
  two_copies& operator=(two_copies&&) = default;
};

/// Argument-dependent lookup finds these for every template of a class derived from it.
struct nothing_by_operators {
  template <class A, class B>
  friend void operator,(A&&, B&&) = delete;
  template <class A>
  friend void operator&(A&&) = delete;
};
/// Has no address by & and no comma, and neither has anything made of it; no default; and throws if it is converted to bool.
struct without_operators : nothing_by_operators {
  long n;
  static without_operators make(long n) { return without_operators{n}; }
  [[nodiscard]] long get() const { return n; }
  explicit without_operators(long value) : n{value} {}
  void operator&() const = delete;
  explicit operator bool() const { throw std::logic_error{"asked for its truth"}; }
  template <class T>
  bool operator!() const = delete;
};
/// Its operators & and comma mean something else.
struct with_other_operators {
  long n;
  static with_other_operators make(long n) { return with_other_operators{n}; }
  [[nodiscard]] long get() const { return n; }
  explicit with_other_operators(long value) : n{value} {}
  with_other_operators* operator&() const {
    static with_other_operators elsewhere{broken};
    return std::addressof(elsewhere);
  }
  template <class B>
  friend std::string operator,(with_other_operators const&, B&&) {
    throw std::logic_error{"a comma was called"};
  }
  template <class A>
  friend std::string operator,(A&&, with_other_operators const&) {
    throw std::logic_error{"a comma was called"};
  }
};
/// Moved only; what was moved from is broken. No default.
struct only_moves {
  std::unique_ptr<long> n;
  static only_moves make(long n) { return only_moves{n}; }
  [[nodiscard]] long get() const { return n ? *n : broken; }
  explicit only_moves(long value) : n{std::make_unique<long>(value)} {}
};
/// Aligned to 128 bytes, and checks it.
struct alignas(128) wide {
  long n;
  static wide make(long n) { return wide{n}; }
  [[nodiscard]] long get() const { return reinterpret_cast<std::uintptr_t>(this) % 128 == 0 ? n : broken; }
  explicit wide(long value) : n{value} {}
  wide(wide const& o) : n{o.get()} { check(); }
  wide(wide&& o) noexcept : n{o.get()} { check(); }
  wide& operator=(wide const& o) {
    n = o.get();
    return *this;
  }
  wide& operator=(wide&& o) noexcept {
    n = o.get();
    return *this;
  }
  void check() noexcept {
    if (reinterpret_cast<std::uintptr_t>(this) % 128 != 0) n = broken;
  }
};

template <class T>
concept value = requires(T const& x) {
  { T::make(1L) } -> std::same_as<T>;
  { x.get() } -> std::same_as<long>;
};
/// Found by ADL: no generic comparison is a better match.
template <value T>
auto operator<=>(T const& a, T const& b) {
  return a.get() <=> b.get();
}
template <value T>
bool operator==(T const& a, T const& b) {
  return a.get() == b.get();
}

/// Copied, also when moved; one of its copies, from `left` on, throws.
struct throwing {
  static inline std::atomic<long> left = 0;
  struct failure {};
  static void counted() {
    if (left.load() > 0 && left.fetch_sub(1) == 1) throw failure{};
  }
  long n;
  explicit throwing(long value) : n{value} {}
  throwing(throwing const& o) : n{o.n} { counted(); }
  throwing& operator=(throwing const& o) {
    counted();
    n = o.n;
    return *this;
  }
  [[nodiscard]] long get() const { return n; }
};

}  // namespace test::hostile
