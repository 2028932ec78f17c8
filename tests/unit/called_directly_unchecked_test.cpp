// A task's function that is called like an ordinary one, without assertions: in an ordinary function on a worker it is still detected where
// it would write its result, ends by an exception, or is resumed.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <gtest/gtest.h>

#include <nopal/nopal.hpp>
#include <stdexcept>
#include <string>

namespace {

nopal::task<int> word() { co_return 300; }
nopal::task<> fails() {
  throw std::runtime_error{"nobody waits"};
  co_return;
}

template <class F>
void dies_in_a_function(F called) {
  constexpr char const* message = "nopal: a task's function was called directly on a worker.*nopal::sync_wait";
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([&] { called(); }), message);
  // Also if tasks have run before, and left a slot of their own.
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([&] {
    for (int k = 0; k < 3; ++k) static_cast<void>(nopal::sync_wait(word));
    nopal::counter left;
    nopal::spawn(left, called);
    nopal::wait_for(left);
  }),
               message);
}

#if !NOPAL_ASAN && !NOPAL_TSAN  // which have the handler's place
nopal::task<std::string> text() { co_return "three hundred"; }
TEST(called_directly_unchecked, in_a_function_that_drops_a_word) {
  dies_in_a_function([] { static_cast<void>(word()); });
}
TEST(called_directly_unchecked, in_a_function_that_drops_an_object) {
  dies_in_a_function([] { static_cast<void>(text()); });
}
#endif
TEST(called_directly_unchecked, in_a_function_and_fails) {
  dies_in_a_function([] { static_cast<void>(fails()); });
}

}  // namespace
