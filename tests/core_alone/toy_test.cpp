// The engine with a table of its own, in which a toy companion observes pools and brings an event source to them.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "fib.hpp"
#include "nopal/event_source.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/toy.hpp"
#include "observe/companion.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// True: new pools run on another machine.
bool toy_is_elsewhere = false;

class elsewhere final : public attachment {
 public:
  std::optional<topology> machine() const override { return topology::made_up("2"); }
  std::unique_ptr<observer> watch(pool_site const& /*s*/) const override { return nullptr; }
};

companion const elsewhere_companion{
    .name = "elsewhere",
    .attach = [](pool_options const&) -> std::unique_ptr<attachment> { return toy_is_elsewhere ? std::make_unique<elsewhere>() : nullptr; },
    .names = nullptr};

}  // namespace

extern companion const toy_companion;

// In place of the empty table in the library.
std::span<companion const* const> companions() noexcept {
  static constexpr companion const* all[] = {&elsewhere_companion, &toy_companion};
  return all;
}

}  // namespace nopal::core

namespace {

using namespace std::chrono_literals;

// True soon, if it becomes true at all.
template <class Predicate>
bool comes_true(Predicate p) {
  auto const end = std::chrono::steady_clock::now() + 1min;
  while (!p() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return p();
}

struct silent_source final : nopal::event_source {
  std::atomic<unsigned> polls{0};
  void poll() noexcept override { ++polls; }
  void wait() noexcept override {}
  void wake() noexcept override {}
};

TEST(toy, is_told_what_the_pool_counts) {
  nopal::pool pool{{.workers = 3, .name = "toy"}};
  unsigned const before = nopal::toy.steals;
  std::atomic<bool> stolen{false};
  pool.run([&] { nopal::parallel_invoke([&] { EXPECT_TRUE(comes_true([&] { return stolen.load(); })); }, [&] { stolen = true; }); });
  auto const steals = pool.stats().steals;
  EXPECT_GT(steals, 0u);
  EXPECT_GE(nopal::toy.steals - before, steals);
}

TEST(toy, brings_a_place_where_an_idle_worker_waits) {
  nopal::pool pool{{.workers = 1, .name = "toy"}};
  for (int k = 0; k < 10; ++k) {
    unsigned const before = nopal::toy.waits;
    EXPECT_EQ(pool.submit([] { return 7; }).get(), 7);
    EXPECT_TRUE(comes_true([&] { return nopal::toy.waits > before; }));
  }
  EXPECT_GT(nopal::toy.polls, 0u);
}

TEST(toy, has_no_part_in_a_pool_that_does_not_ask_for_it) {
  nopal::pool pool{{.workers = 2, .name = "other"}};
  unsigned const waits = nopal::toy.waits, steals = nopal::toy.steals, polls = nopal::toy.polls;
  EXPECT_EQ(pool.run(test::fib_task, 16L), 987);
  EXPECT_TRUE(comes_true([&] { return pool.stats().sleeps > 0; }));
  EXPECT_EQ(nopal::toy.waits, waits);
  EXPECT_EQ(nopal::toy.steals, steals);
  EXPECT_EQ(nopal::toy.polls, polls);
}

TEST(toy, leaves_the_programs_own_source_in_its_place) {
  auto const own = std::make_shared<silent_source>();
  nopal::pool pool{{.workers = 2, .name = "toy", .experimental = {.events = own}}};
  unsigned const polls = nopal::toy.polls;
  EXPECT_TRUE(comes_true([&] { return own->polls > 10; }));
  EXPECT_EQ(nopal::toy.polls, polls);
}

TEST(toy, is_refused_on_a_simulated_machine) {
  nopal::core::toy_is_elsewhere = true;
  std::string said = "accepted";
  try {
    nopal::pool const pool{{.workers = 1, .name = "toy"}};
  } catch (std::invalid_argument const& e) {
    said = e.what();
  }
  nopal::core::toy_is_elsewhere = false;
  EXPECT_EQ(said,
            "nopal::pool: a simulated machine and an event source, of which a companion brings one: events do not come in the machine's "
            "time; switch one off");
}

}  // namespace
