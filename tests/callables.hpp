#pragma once

// Tests that pass all that can be called without arguments to the library, and check that each is called as often as it should, and whole.

#include <gtest/gtest.h>

#include "callable_specimens.hpp"
#include "nopal/pool.hpp"

namespace callables {

/// For tests that pass a specimen to a function, and check that it was called once, and whole.
template <class Specimen>
class fixture : public testing::Test {
 protected:
  fixture() { calls = damaged = 0; }
  /// Calls Specimen::give(use), on a worker of a pool of several.
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

using all = testing::Types<plain_function, noexcept_function, function_pointer, named_function_pointer, nodiscard_function, captureless,
                           named_closure, const_closure, const_temporary, mutable_closure, generic_closure, with_default_argument,
                           std_function, named_std_function, bound, by_reference_wrapper, move_only, named_move_only, unique_capture,
                           handle_capture, small_handle_capture, named_handle_capture, immovable_capture, large<200>, large<4096>,
                           aligned<32>, aligned<64>, aligned_and_copied<32>, aligned_and_copied<64>, copied_by_constructor,
                           lvalue_qualified, const_lvalue_qualified, rvalue_qualified, const_rvalue_qualified, qualified_either_way,
                           final_class, empty_final_class, hostile_class, named_hostile_class, greedy, nodiscard_result, reference_result,
                           rvalue_reference_result, move_only_result, aligned_result, large_result, const_member_result, immovable_result>;

}  // namespace callables
