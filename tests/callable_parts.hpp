#pragma once

// Parts of the callables that tests pass to the library: each counts its calls in `calls`, and in `damaged` those that found their captures
// changed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

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

/// Cannot be copied, but is trivial: a file descriptor, a handle.
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

/// Its operators & and comma do not do what their users expect.
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

/// Copies and moves that are not copies of bytes.
struct counted_copies {
  counted_copies() = default;
  counted_copies(counted_copies const& o) : self{this}, intact{o.whole()} {}
  counted_copies(counted_copies&& o) noexcept : self{this}, intact{o.whole()} {}
  counted_copies* self = this;
  bool intact = true;
  bool whole() const { return self == this && intact; }
};

}  // namespace callables
