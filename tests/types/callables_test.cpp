// parallel_invoke accepts all that can be called without arguments, at every position.

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "../callables.hpp"
#include "nopal/native.hpp"

namespace {

using callables::calls;

/// Returns once there have been n calls: on a pool of several workers only if another one makes them, or has.
auto until(int n) {
  return [n] {
    while (calls < n) std::this_thread::yield();
  };
}
void nothing() {}

template <class Specimen>
class Callables : public callables::fixture<Specimen> {};
TYPED_TEST_SUITE(Callables, callables::all);

#define GIVEN std::forward<decltype(f)>(f)

TYPED_TEST(Callables, OneAndTwo) {
  this->on_pool([](auto&& f) { nopal::parallel_invoke(GIVEN); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(GIVEN, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(nothing, GIVEN); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(until(1), GIVEN); });  // stolen
  this->expect(1);
  TypeParam::give([](auto&& f) { nopal::parallel_invoke(nothing, GIVEN); });  // off a pool
  this->expect(1);
  TypeParam::give([](auto&& f) { nopal::parallel_invoke(GIVEN, nothing); });
  this->expect(1);
}

TYPED_TEST(Callables, Three) {
  this->on_pool([](auto&& f) { nopal::parallel_invoke(GIVEN, nothing, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(nothing, GIVEN, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(until(1), nothing, GIVEN); });
  this->expect(1);
}

// Each takes seconds to compile.
template <class Specimen>
class SomeCallables : public callables::fixture<Specimen> {};
using some = testing::Types<callables::plain_function, callables::function_pointer, callables::named_move_only, callables::handle_capture,
                            callables::large<200>, callables::rvalue_qualified, callables::nodiscard_result>;
TYPED_TEST_SUITE(SomeCallables, some);

TYPED_TEST(SomeCallables, Five) {
  this->on_pool([](auto&& f) { nopal::parallel_invoke(GIVEN, nothing, nothing, nothing, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(nothing, GIVEN, nothing, nothing, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(nothing, nothing, GIVEN, nothing, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(until(1), nothing, nothing, GIVEN, nothing); });
  this->expect(1);
  this->on_pool([](auto&& f) { nopal::parallel_invoke(nothing, nothing, nothing, nothing, GIVEN); });
  this->expect(1);
}

}  // namespace
