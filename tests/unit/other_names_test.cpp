// The library calls its own functions, whatever functions the namespace of a user's callable has.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>

#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

/// A user's namespace with better matches for all that the library calls without a qualified name.
namespace greedy {
inline bool called = false;
#define NOPAL_TEST_GREEDY(name) \
  template <class... T>         \
  bool name(T&&...) {           \
    called = true;              \
    return true;                \
  }
NOPAL_TEST_GREEDY(give_up)
NOPAL_TEST_GREEDY(branch_lost)
NOPAL_TEST_GREEDY(run_stolen_branch)
NOPAL_TEST_GREEDY(make_offer)
NOPAL_TEST_GREEDY(take_back)
NOPAL_TEST_GREEDY(poll_natively)
NOPAL_TEST_GREEDY(child_threw)
NOPAL_TEST_GREEDY(parent_lost)
NOPAL_TEST_GREEDY(fork_child)
NOPAL_TEST_GREEDY(spawn_from_outside)
#undef NOPAL_TEST_GREEDY

struct adds {
  std::atomic<int>* to;
  void operator()() const { ++*to; }
};
struct throws {
  void operator()() const { throw 1; }
};
}  // namespace greedy

TEST(native, a_namespace_with_functions_of_any_name_is_left_alone) {
  for (nopal::schedule const how : {nopal::schedule::steal_always, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 2, .schedule = how}};
    std::atomic<int> calls{0};
    pool.run([&] {
      nopal::parallel_invoke(greedy::adds{&calls}, greedy::adds{&calls}, greedy::adds{&calls});
      EXPECT_THROW(nopal::parallel_invoke(greedy::throws{}, greedy::adds{&calls}), int);
      nopal::scope s;
      s.fork(greedy::adds{&calls});
      s.join();
    });
    EXPECT_GE(calls.load(), 4);
  }
  EXPECT_FALSE(greedy::called);
}
