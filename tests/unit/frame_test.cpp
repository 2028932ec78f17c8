// The core's view of a coroutine frame is the compiler's: the address, the ABI's two pointers, the promise after them, the slot.

#include "nopal/core/task/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <string>

#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

/// The addresses, as seen by the running task.
struct seen {
  void* coroutine = nullptr;
  void* promise = nullptr;
  nopal::core::frame* frame = nullptr;
  void* slot = nullptr;
  bool resumable = false;
  bool volatile suspends = false;  ///< as far as a compiler knows: of a coroutine that never does, it writes no whole frame
};

struct look : nopal::core::awaitable_tag {
  seen* into;
  explicit look(seen& s) noexcept : into{&s} {}
  look in(nopal::core::frame& f) noexcept {
    into->frame = &f;
    return *this;
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    into->coroutine = h.address();
    into->promise = &h.promise();
    into->slot = into->frame->slot;
    into->resumable = into->frame->resume_function != nullptr && into->frame->destroy_function != nullptr && !h.done();
    return into->suspends;
  }
  void await_resume() const noexcept {}
};

template <class T>
nopal::task<T> returns(seen& s, T value) {
  co_await look{s};
  co_return value;
}
nopal::task<> returns_nothing(seen& s) { co_await look{s}; }

void is_right(seen const& s) {
  ASSERT_NE(s.frame, nullptr);
  EXPECT_EQ(s.coroutine, s.frame);
  EXPECT_EQ(s.promise, reinterpret_cast<std::byte*>(s.frame) + 2 * sizeof(void*));
  EXPECT_TRUE(s.resumable);
}

TEST(frame, is_where_the_compiler_puts_it) {
  nopal::pool pool{{.workers = 2}};
  pool.run(
      [](int) -> nopal::task<> {
        seen s;
        long a = 0;
        co_await nopal::fork(&a, returns<long>, s, 7);
        co_await nopal::join;
        is_right(s);
        EXPECT_EQ(s.slot, &a);
        EXPECT_EQ(a, 7);
        std::string words;
        co_await nopal::call(&words, returns<std::string>, s, "seven");
        is_right(s);
        EXPECT_EQ(s.slot, &words);
        std::array<double, 8> many{};
        co_await nopal::call(&many, returns<std::array<double, 8>>, s, std::array<double, 8>{});
        is_right(s);
        EXPECT_EQ(s.slot, &many);
        co_await nopal::call(returns_nothing, s);
        is_right(s);
      },
      0);
}

}  // namespace
