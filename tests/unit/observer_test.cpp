// The calls of a pool to its observers: a toy companion counts steals by victim, and agrees with the pool's own count, alone and beside a
// trace.
// Needs the companion trace.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "../fib.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"

namespace {

using nopal::core::observer;
using nopal::core::pool_state;
using nopal::core::strand_kind;
using nopal::core::worker;

struct numbers {
  std::atomic<unsigned> threads{0}, ended_threads{0}, ends{0}, jobs{0}, fibers{0}, sleeps{0}, wakes{0}, leaves{0}, resumes{0};
  std::array<std::atomic<std::uint64_t>, 4> stolen_from{};
  std::array<std::atomic<unsigned>, 7> begun_as{};
};
std::atomic<numbers*> counts{nullptr};  // of the pools that a test makes; null: these are not observed

class counting final : public observer {
 public:
  explicit counting(numbers& n) : n_{n} {}
  void thread_begins(unsigned) noexcept override { ++n_.threads; }
  void thread_ends(unsigned) noexcept override { ++n_.ended_threads; }
  void pool_has_ended() noexcept override { ++n_.ends; }
  void comes(nopal::core::brought what, worker*) noexcept override { ++(what == nopal::core::brought::job ? n_.jobs : n_.fibers); }
  void strand_begins(worker&, strand_kind what, void const* code, void const*) noexcept override {
    EXPECT_NE(code, nullptr);
    ++n_.begun_as[static_cast<std::size_t>(what)];
  }
  void strand_leaves(worker&, nopal::core::waits_for const&) noexcept override { ++n_.leaves; }
  void strand_resumes(worker&, nopal::core::stack const&, nopal::core::waits_for const*) noexcept override { ++n_.resumes; }
  void took(worker& w, worker const& victim) noexcept override {
    EXPECT_NE(w.index(), victim.index());
    ++n_.stolen_from[victim.index()];
  }
  void sleeps(worker&) noexcept override { ++n_.sleeps; }
  void wakes(worker&, bool) noexcept override { ++n_.wakes; }

 private:
  numbers& n_;
};

std::unique_ptr<observer> make(pool_state&) {
  numbers* const n = counts.load();
  return n != nullptr ? std::make_unique<counting>(*n) : nullptr;
}

struct observed : testing::TestWithParam<bool> {
  observed() {
    static bool const named = (nopal::core::observe_new_pools(make), true);
    static_cast<void>(named);
    counts = &n;
  }
  ~observed() override {
    counts = nullptr;
    if (!file.empty()) std::filesystem::remove(file);
  }
  nopal::pool_options options(unsigned workers) {
    nopal::pool_options o{.workers = workers};
    if (GetParam()) o.trace = file = testing::TempDir() + "observed_" + std::to_string(::getpid()) + ".pftrace";
    return o;
  }
  numbers n;
  std::string file;
};

TEST_P(observed, steals_are_told_by_victim) {
  std::uint64_t steals = 0;
  {
    nopal::pool p{options(4)};
    for (int k = 0; k < 20 || (steals == 0 && k < 2000); ++k) {
      EXPECT_EQ(p.run(test::native::fib, 16L), 987);
      EXPECT_EQ(p.run(test::fib_task, 16L), 987);
      steals = p.stats().steals;
    }
    EXPECT_EQ(n.ends, 0u);
    counts = nullptr;  // as long as this is read no more, pools that begin now are not observed
    nopal::pool other{{.workers = 2}};
    EXPECT_EQ(other.run(test::native::fib, 10L), 55);
    counts = &n;
    steals = p.stats().steals;
    nopal::counter fiber;
    p.spawn(fiber, [] {});
    nopal::wait_for(fiber);
    p.submit([] {}).get();
    EXPECT_GE(n.jobs, 1u);  // and those calls of run that found no worker asleep
    EXPECT_EQ(n.fibers, 1u);
  }
  EXPECT_EQ(n.threads, 4u);
  EXPECT_EQ(n.ended_threads, 4u);
  EXPECT_EQ(n.ends, 1u);
  std::uint64_t told = 0;
  for (auto const& s : n.stolen_from) told += s;
  EXPECT_GE(told, steals);  // some may have been stolen since
  EXPECT_GT(told, 0u);
  EXPECT_EQ(n.sleeps, n.wakes);
  if (GetParam()) {
    EXPECT_GT(std::filesystem::file_size(file), 0u);
  }
}

TEST_P(observed, what_waits_is_told) {
  {
    nopal::pool p{options(1)};
    p.run([] {
      nopal::counter done;
      for (int k = 0; k < 10; ++k) {
        nopal::spawn(done, [] {
          nopal::counter never{1};
          nopal::spawn([&] { never.done(); });
          nopal::wait_for(never);
        });
      }
      nopal::wait_for(done);
    });
  }
  EXPECT_GE(n.leaves, 11u);
  EXPECT_EQ(n.leaves, n.resumes);
  EXPECT_GE(n.begun_as[static_cast<std::size_t>(strand_kind::ready)], 20u);
}

INSTANTIATE_TEST_SUITE_P(alone_and_beside_a_trace, observed, testing::Bool());

}  // namespace
