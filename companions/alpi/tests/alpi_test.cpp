// ALPI's functions as a library finds them: by dlsym, in a program that is linked with libnopal-alpi.so.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "alpi.h"
#include "nopal/alpi.hpp"
#include "nopal/nopal.hpp"

namespace {

// The function of that name, of the type that alpi.h gives it.
template <class F>
F* found(F*, char const* name) {
  void* const f = dlsym(RTLD_DEFAULT, name);
  if (f == nullptr) throw std::runtime_error{std::string{"there is no "} + name};
  return reinterpret_cast<F*>(f);
}
#define ALPI(name) found(&name, #name)  // NOLINT: the name, as text too

alpi_task* self() {
  alpi_task* t = nullptr;
  EXPECT_EQ(ALPI(alpi_task_self)(&t), ALPI_SUCCESS);
  return t;
}

// The pool of tasks, until the test ends.
class tasks_on {
 public:
  explicit tasks_on(unsigned workers) : pool_{{.workers = workers}} { nopal::alpi::use(pool_); }
  ~tasks_on() { nopal::alpi::use_default_pool(); }
  nopal::pool& pool() { return pool_; }

 private:
  nopal::pool pool_;
};

class alpi_on : public testing::TestWithParam<unsigned> {
 protected:
  tasks_on on_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(workers, alpi_on, testing::Values(1U, 2U, 4U));

TEST(alpi, has_each_function_that_a_library_looks_for) {
  for (char const* name : {"alpi_error_string",
                           "alpi_info_get",
                           "alpi_feature_check",
                           "alpi_version_check",
                           "alpi_version_get",
                           "alpi_task_self",
                           "alpi_task_block",
                           "alpi_task_unblock",
                           "alpi_task_waitfor_ns",
                           "alpi_task_events_increase",
                           "alpi_task_events_test",
                           "alpi_task_events_decrease",
                           "alpi_task_spawn",
                           "alpi_attr_create",
                           "alpi_attr_destroy",
                           "alpi_attr_init",
                           "alpi_attr_size",
                           "alpi_cpu_count",
                           "alpi_cpu_logical_id",
                           "alpi_cpu_system_id",
                           "alpi_task_suspend_mode_set",
                           "alpi_task_suspend"}) {
    EXPECT_NE(dlsym(RTLD_DEFAULT, name), nullptr) << name;
  }
}

TEST(alpi, fits_its_own_and_earlier_minor_versions) {
  int major = 0;
  int minor = 0;
  EXPECT_EQ(ALPI(alpi_version_get)(&major, &minor), ALPI_SUCCESS);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 2);
  EXPECT_EQ(ALPI(alpi_version_get)(nullptr, &minor), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_version_get)(&major, nullptr), ALPI_ERR_PARAMETER);
  for (int const fits : {0, 1, 2}) EXPECT_EQ(ALPI(alpi_version_check)(1, fits), ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_version_check)(1, 3), ALPI_ERR_VERSION);
  EXPECT_EQ(ALPI(alpi_version_check)(1, -1), ALPI_ERR_VERSION);
  EXPECT_EQ(ALPI(alpi_version_check)(0, 2), ALPI_ERR_VERSION);
  EXPECT_EQ(ALPI(alpi_version_check)(2, 0), ALPI_ERR_VERSION);
}

TEST(alpi, has_all_four_features_and_no_other) {
  EXPECT_EQ(ALPI(alpi_feature_check)(0), ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_feature_check)(ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND),
            ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_feature_check)(1 << 4), ALPI_ERR_FEATURE_UNKNOWN);
  EXPECT_EQ(ALPI(alpi_feature_check)(ALPI_FEATURE_EVENTS | 1 << 20), ALPI_ERR_FEATURE_UNKNOWN);
}

TEST(alpi, says_what_each_error_means) {
  std::set<std::string> texts;
  for (int e = ALPI_SUCCESS; e <= ALPI_ERR_MAX; ++e) texts.insert(ALPI(alpi_error_string)(static_cast<alpi_error_t>(e)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(ALPI_ERR_MAX + 1));
  EXPECT_STREQ(ALPI(alpi_error_string)(static_cast<alpi_error_t>(12)), "Error code not recognized");
}

TEST(alpi, names_the_runtime_in_as_much_memory_as_there_is) {
  std::array<char, 64> text{};
  int length = 0;
  EXPECT_EQ(ALPI(alpi_info_get)(ALPI_INFO_RUNTIME_NAME, text.data(), text.size(), &length), ALPI_SUCCESS);
  EXPECT_STREQ(text.data(), "nopal");
  EXPECT_EQ(length, 5);
  EXPECT_EQ(ALPI(alpi_info_get)(ALPI_INFO_VERSION, text.data(), text.size(), nullptr), ALPI_SUCCESS);
  EXPECT_STREQ(text.data(), NOPAL_VERSION_STRING);
  text.fill('x');
  EXPECT_EQ(ALPI(alpi_info_get)(ALPI_INFO_RUNTIME_NAME, text.data(), 3, &length), ALPI_SUCCESS);
  EXPECT_STREQ(text.data(), "no");
  EXPECT_EQ(length, 2);
  EXPECT_EQ(text[3], 'x');
  EXPECT_EQ(ALPI(alpi_info_get)(ALPI_INFO_RUNTIME_NAME, text.data(), 0, &length), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_info_get)(ALPI_INFO_RUNTIME_NAME, nullptr, 3, &length), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_info_get)(static_cast<alpi_info_t>(3), text.data(), text.size(), &length), ALPI_ERR_PARAMETER);
}

TEST(alpi, is_outside_of_any_task_on_a_thread_of_its_own) {
  EXPECT_EQ(self(), nullptr);
  EXPECT_EQ(ALPI(alpi_task_self)(nullptr), ALPI_ERR_PARAMETER);
  std::uint64_t n = 0;
  EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(0, nullptr), ALPI_ERR_OUTSIDE_TASK);
  EXPECT_EQ(ALPI(alpi_cpu_logical_id)(&n), ALPI_ERR_OUTSIDE_TASK);
  EXPECT_EQ(ALPI(alpi_cpu_system_id)(&n), ALPI_ERR_OUTSIDE_TASK);
  EXPECT_EQ(ALPI(alpi_task_block)(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_task_unblock)(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(nullptr, 1), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_cpu_count)(nullptr), ALPI_ERR_PARAMETER);
}

TEST(alpi, attributes_are_made_checked_and_destroyed) {
  alpi_attr* made = nullptr;
  ASSERT_EQ(ALPI(alpi_attr_create)(&made), ALPI_SUCCESS);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(ALPI(alpi_attr_init)(made), ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_attr_destroy)(made), ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_attr_create)(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_attr_init)(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_attr_destroy)(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(ALPI(alpi_attr_size)(nullptr), ALPI_ERR_PARAMETER);

  std::uint64_t size = 0;
  ASSERT_EQ(ALPI(alpi_attr_size)(&size), ALPI_SUCCESS);
  std::vector<std::max_align_t> memory(size / sizeof(std::max_align_t) + 1);
  auto* const own = reinterpret_cast<alpi_attr*>(memory.data());
  EXPECT_EQ(ALPI(alpi_task_spawn)([](void*) {}, nullptr, nullptr, nullptr, nullptr, own), ALPI_ERR_PARAMETER);  // not made yet
  EXPECT_EQ(ALPI(alpi_attr_init)(own), ALPI_SUCCESS);
  EXPECT_EQ(ALPI(alpi_task_spawn)(nullptr, nullptr, nullptr, nullptr, nullptr, own), ALPI_ERR_PARAMETER);

  tasks_on const two{2};
  nopal::counter left{1};
  EXPECT_EQ(ALPI(alpi_task_spawn)([](void*) {}, nullptr, [](void* c) { static_cast<nopal::counter*>(c)->done(); }, &left, "mine", own),
            ALPI_SUCCESS);
  nopal::wait_for(left);
}

TEST_P(alpi_on, each_task_is_itself_also_after_waits) {
  nopal::counter left;
  std::mutex m;
  std::set<alpi_task*> seen;
  nopal::counter all_here{20};
  for (int i = 0; i < 20; ++i) {
    nopal::alpi::spawn(left, [&] {
      alpi_task* const me = self();
      ASSERT_NE(me, nullptr);
      {
        std::lock_guard const lock{m};
        seen.insert(me);
      }
      all_here.done();
      nopal::wait_for(all_here);  // so that all are there at a time
      EXPECT_EQ(self(), me);
      nopal::yield();
      EXPECT_EQ(self(), me);
    });
  }
  nopal::wait_for(left);
  EXPECT_EQ(seen.size(), 20U);
}

TEST_P(alpi_on, a_fiber_that_was_spawned_otherwise_is_no_task) {
  nopal::counter left;
  on_.pool().spawn(left, [] { EXPECT_EQ(self(), nullptr); });
  nopal::wait_for(left);
  nopal::alpi::run([&] {
    nopal::counter inner;
    nopal::spawn(inner, [] { EXPECT_EQ(self(), nullptr); });
    nopal::wait_for(inner);
    EXPECT_NE(self(), nullptr);
  });
}

TEST_P(alpi_on, what_a_task_calls_is_the_task_and_other_tasks_are_not) {
  nopal::alpi::run([] {
    alpi_task* const me = self();
    nopal::counter left;
    nopal::alpi::spawn(left, [me] {
      EXPECT_NE(self(), me);
      EXPECT_EQ(ALPI(alpi_task_block)(me), ALPI_ERR_PARAMETER);
      EXPECT_EQ(ALPI(alpi_task_events_increase)(me, 1), ALPI_ERR_PARAMETER);
      EXPECT_EQ(ALPI(alpi_task_suspend)(me), ALPI_ERR_PARAMETER);
      EXPECT_EQ(ALPI(alpi_task_suspend_mode_set)(me, ALPI_SUSPEND_SUBMIT, 0), ALPI_ERR_PARAMETER);
    });
    nopal::wait_for(left);
    EXPECT_EQ(self(), me);
  });
  EXPECT_EQ(self(), nullptr);
}

TEST_P(alpi_on, an_unblock_before_or_after_the_block_ends_it) {
  nopal::alpi::run([] {
    alpi_task* const me = self();
    EXPECT_EQ(ALPI(alpi_task_unblock)(me), ALPI_SUCCESS);
    EXPECT_EQ(ALPI(alpi_task_block)(me), ALPI_SUCCESS);  // at once
    bool ran = false;
    nopal::counter left;
    nopal::spawn(left, [&] {
      ran = true;
      EXPECT_EQ(ALPI(alpi_task_unblock)(me), ALPI_SUCCESS);
    });
    EXPECT_EQ(ALPI(alpi_task_block)(me), ALPI_SUCCESS);
    EXPECT_TRUE(ran);
    nopal::wait_for(left);
  });
}

// The unblock comes while the task is about to block, from another thread; and the task ends at once after it.
TEST_P(alpi_on, blocks_and_unblocks_race) {
  constexpr int rounds = 300;
  std::atomic<alpi_task*> blocked{nullptr};
  std::atomic<int> ended{0};
  std::thread unblocks{[&] {
    for (int i = 0; i < rounds; ++i) {
      alpi_task* t = nullptr;
      while ((t = blocked.exchange(nullptr)) == nullptr) std::this_thread::yield();
      EXPECT_EQ(ALPI(alpi_task_unblock)(t), ALPI_SUCCESS);
    }
  }};
  for (int i = 0; i < rounds; ++i) {
    nopal::alpi::run([&] {
      alpi_task* const me = self();
      blocked = me;
      EXPECT_EQ(ALPI(alpi_task_block)(me), ALPI_SUCCESS);
      ++ended;
    });
  }
  unblocks.join();
  EXPECT_EQ(ended, rounds);
}

TEST_P(alpi_on, while_tasks_block_others_run) {
  constexpr std::size_t n = 200;
  std::vector<alpi_task*> tasks(n);
  nopal::counter begun{n};
  nopal::counter left;
  for (std::size_t i = 0; i < n; ++i) {
    nopal::alpi::spawn(left, [&, i] {
      tasks[i] = self();
      begun.done();
      EXPECT_EQ(ALPI(alpi_task_block)(tasks[i]), ALPI_SUCCESS);
    });
  }
  nopal::wait_for(begun);  // on one worker too
  EXPECT_EQ(left.load() >= static_cast<std::int64_t>(n), true);
  for (alpi_task* const t : tasks) EXPECT_EQ(ALPI(alpi_task_unblock)(t), ALPI_SUCCESS);
  nopal::wait_for(left);
}

TEST_P(alpi_on, a_task_completes_when_its_last_event_is_fulfilled) {
  alpi_task* t = nullptr;
  nopal::counter left;
  nopal::counter body_has_ended{1};
  nopal::alpi::spawn(left, [&] {
    t = self();
    std::uint64_t has = 7;
    EXPECT_EQ(ALPI(alpi_task_events_test)(t, &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 0U);
    EXPECT_EQ(ALPI(alpi_task_events_increase)(t, 3), ALPI_SUCCESS);
    EXPECT_EQ(ALPI(alpi_task_events_test)(t, &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 1U);
    EXPECT_EQ(ALPI(alpi_task_events_test)(t, nullptr), ALPI_ERR_PARAMETER);
    EXPECT_EQ(ALPI(alpi_task_events_increase)(t, std::numeric_limits<std::uint64_t>::max()), ALPI_ERR_PARAMETER);
    EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 4), ALPI_ERR_PARAMETER);
    body_has_ended.done();
  });
  nopal::wait_for(body_has_ended);
  nopal::wait_for(left, 1);  // the fiber has ended, and the task has not
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 1), ALPI_SUCCESS);
  EXPECT_EQ(left.load(), 1);
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 2), ALPI_SUCCESS);
  EXPECT_EQ(left.load(), 0);
}

TEST_P(alpi_on, what_comes_after_a_task_waits_for_its_events) {
  alpi_task* t = nullptr;
  std::atomic<bool> fulfilled{false};
  nopal::counter first;
  nopal::counter second;
  nopal::counter body_runs{1};
  nopal::alpi::spawn(first, [&] {
    t = self();
    EXPECT_EQ(ALPI(alpi_task_events_increase)(t, 1), ALPI_SUCCESS);
    body_runs.done();
  });
  nopal::alpi::spawn(nopal::after(first), second, [&] { EXPECT_TRUE(fulfilled); });
  nopal::wait_for(body_runs);
  nopal::wait_for(first, 1);
  fulfilled = true;
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 1), ALPI_SUCCESS);
  nopal::wait_for(second);
  nopal::wait_for(first);
}

// The last event is fulfilled by another thread while the body ends.
TEST_P(alpi_on, ends_of_bodies_and_events_race) {
  constexpr int rounds = 300;
  std::atomic<alpi_task*> waits{nullptr};
  std::atomic<bool> fulfilled{false};
  std::thread fulfils{[&] {
    for (int i = 0; i < rounds; ++i) {
      alpi_task* t = nullptr;
      while ((t = waits.exchange(nullptr)) == nullptr) std::this_thread::yield();
      fulfilled = true;
      EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 1), ALPI_SUCCESS);
    }
  }};
  for (int i = 0; i < rounds; ++i) {
    fulfilled = false;
    nopal::alpi::run([&] {
      alpi_task* const me = self();
      ASSERT_EQ(ALPI(alpi_task_events_increase)(me, 1), ALPI_SUCCESS);
      waits = me;
    });
    EXPECT_TRUE(fulfilled);
  }
  fulfils.join();
}

struct completion {
  nopal::counter left{1};
  std::atomic<int> bodies{0};
  std::atomic<int> callbacks{0};
  std::atomic<alpi_task*> task{nullptr};
  std::atomic<bool> body_ended{false};
};

TEST_P(alpi_on, a_spawned_task_calls_back_when_it_has_completed) {
  completion c;
  ASSERT_EQ(ALPI(alpi_task_spawn)(
                [](void* with) {
                  auto& all = *static_cast<completion*>(with);
                  ++all.bodies;
                  EXPECT_NE(self(), nullptr);
                },
                &c,
                [](void* with) {
                  auto& all = *static_cast<completion*>(with);
                  EXPECT_EQ(all.bodies, 1);
                  ++all.callbacks;
                  all.left.done();
                },
                &c, "a label", nullptr),
            ALPI_SUCCESS);
  nopal::wait_for(c.left);
  EXPECT_EQ(c.callbacks, 1);
}

TEST_P(alpi_on, a_spawned_task_calls_back_after_its_events_only) {
  completion c;
  nopal::counter ends{1};
  struct both {
    completion& c;
    nopal::counter& ends;
  } with{c, ends};
  ASSERT_EQ(ALPI(alpi_task_spawn)(
                [](void* w) {
                  auto& b = *static_cast<both*>(w);
                  b.c.task = self();
                  EXPECT_EQ(ALPI(alpi_task_events_increase)(b.c.task, 2), ALPI_SUCCESS);
                  b.ends.done();
                },
                &with,
                [](void* w) {
                  ++static_cast<both*>(w)->c.callbacks;
                  static_cast<both*>(w)->c.left.done();
                },
                &with, nullptr, nullptr),
            ALPI_SUCCESS);
  nopal::wait_for(ends);
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(c.task, 1), ALPI_SUCCESS);
  for (int i = 0; i < 100; ++i) std::this_thread::yield();  // the body may end meanwhile, or not
  EXPECT_EQ(c.callbacks, 0);
  EXPECT_EQ(ALPI(alpi_task_events_decrease)(c.task, 1), ALPI_SUCCESS);
  nopal::wait_for(c.left);
  EXPECT_EQ(c.callbacks, 1);
}

TEST_P(alpi_on, waits_for_a_time_while_others_run) {
  nopal::alpi::run([] {
    alpi_task* const me = self();
    std::uint64_t actual = 0;
    EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(2'000'000, &actual), ALPI_SUCCESS);
    EXPECT_GE(actual, 2'000'000U);
    EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(1000, nullptr), ALPI_SUCCESS);
    EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(0, &actual), ALPI_SUCCESS);
    EXPECT_EQ(self(), me);
  });
}

// As TAMPI at its end: a task waits in steps, under a mutex, until a task that alpi_task_spawn has made is done.
TEST_P(alpi_on, a_task_that_waits_under_a_mutex_unlocks_it_on_its_thread) {
  struct poll {
    std::atomic<bool> must_end{false};
    std::atomic<bool> ended{false};
  } p;
  std::recursive_mutex m;  // which knows its owner
  nopal::alpi::run([&] {
    ASSERT_EQ(ALPI(alpi_task_spawn)(
                  [](void* with) {
                    while (!static_cast<poll*>(with)->must_end) EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(10'000, nullptr), ALPI_SUCCESS);
                  },
                  &p, [](void* with) { static_cast<poll*>(with)->ended = true; }, &p, "polls", nullptr),
              ALPI_SUCCESS);
    std::lock_guard const lock{m};
    auto const locked_by = std::this_thread::get_id();
    p.must_end = true;
    while (!p.ended) EXPECT_EQ(ALPI(alpi_task_waitfor_ns)(100'000, nullptr), ALPI_SUCCESS);
    EXPECT_EQ(std::this_thread::get_id(), locked_by);
  });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_P(alpi_on, tasks_that_run_at_once_have_different_workers) {
  std::uint64_t count = 0;
  ASSERT_EQ(ALPI(alpi_cpu_count)(&count), ALPI_SUCCESS);
  EXPECT_EQ(count, GetParam());
  std::vector<std::atomic<int>> busy(count);
  nopal::counter left;
  for (int i = 0; i < 200; ++i) {
    nopal::alpi::spawn(left, [&] {
      for (int round = 0; round < 5; ++round) {
        std::uint64_t id = count;
        EXPECT_EQ(ALPI(alpi_cpu_logical_id)(&id), ALPI_SUCCESS);
        ASSERT_LT(id, count);
        EXPECT_EQ(busy[id].fetch_add(1), 0);  // nobody else is on it
        std::uint64_t system = 0;
        EXPECT_EQ(ALPI(alpi_cpu_system_id)(&system), ALPI_SUCCESS);
        EXPECT_EQ(busy[id].fetch_sub(1), 1);
        nopal::yield();
      }
    });
  }
  nopal::wait_for(left);
  nopal::alpi::run([] {
    EXPECT_EQ(ALPI(alpi_cpu_logical_id)(nullptr), ALPI_ERR_PARAMETER);
    EXPECT_EQ(ALPI(alpi_cpu_system_id)(nullptr), ALPI_ERR_PARAMETER);
  });
}

// A body that suspends is called again, as often as it says so.
struct again {
  alpi_suspend_mode_t mode;
  std::uint64_t args;
  std::atomic<int> calls{0};
  std::atomic<alpi_task*> task{nullptr};
  nopal::counter called{0};
  nopal::counter left{1};
};
void spawn_again(again& a) {
  ASSERT_EQ(ALPI(alpi_task_spawn)(
                [](void* with) {
                  auto& me = *static_cast<again*>(with);
                  me.task = self();
                  int const call = ++me.calls;
                  if (call < 3) {
                    EXPECT_EQ(ALPI(alpi_task_suspend_mode_set)(me.task, me.mode, me.args), ALPI_SUCCESS);
                    if (me.mode == ALPI_SUSPEND_EVENT_SUBMIT) {
                      EXPECT_EQ(ALPI(alpi_task_events_increase)(me.task, 1), ALPI_SUCCESS);
                    }
                    EXPECT_EQ(ALPI(alpi_task_suspend)(me.task), ALPI_SUCCESS);
                  }
                  me.called.done();
                },
                &a, [](void* with) { static_cast<again*>(with)->left.done(); }, &a, "again", nullptr),
            ALPI_SUCCESS);
}

TEST_P(alpi_on, a_task_that_suspends_is_submitted_again) {
  for (std::uint64_t const args : {0U, 1U}) {
    again a{ALPI_SUSPEND_SUBMIT, args};
    spawn_again(a);
    nopal::wait_for(a.left);
    EXPECT_EQ(a.calls, 3);
  }
}
TEST_P(alpi_on, a_task_that_suspends_for_a_time_is_submitted_then) {
  again a{ALPI_SUSPEND_TIMEOUT_SUBMIT, 1'000'000};
  auto const began = std::chrono::steady_clock::now();
  spawn_again(a);
  nopal::wait_for(a.left);
  EXPECT_EQ(a.calls, 3);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds{2});
}
TEST_P(alpi_on, a_task_that_suspends_for_its_events_is_submitted_when_they_are_fulfilled) {
  again a{ALPI_SUSPEND_EVENT_SUBMIT, 0};
  for (int i = 1; i <= 2; ++i) {
    if (i == 1) spawn_again(a);
    nopal::wait_for(a.called, -i);
    for (int round = 0; round < 100; ++round) std::this_thread::yield();
    EXPECT_EQ(a.calls, i);
    EXPECT_EQ(ALPI(alpi_task_events_decrease)(a.task, 1), ALPI_SUCCESS);
  }
  nopal::wait_for(a.left);
  EXPECT_EQ(a.calls, 3);
  a.called.add(3);
}
TEST_P(alpi_on, a_task_that_suspends_without_more_waits_for_an_unblock) {
  again a{ALPI_SUSPEND_NONE, 0};
  for (int i = 1; i <= 2; ++i) {
    if (i == 1) spawn_again(a);
    nopal::wait_for(a.called, -i);
    EXPECT_EQ(a.calls, i);
    EXPECT_EQ(ALPI(alpi_task_unblock)(a.task), ALPI_SUCCESS);
  }
  nopal::wait_for(a.left);
  EXPECT_EQ(a.calls, 3);
  a.called.add(3);
}

TEST_P(alpi_on, a_task_that_suspends_under_a_race_with_its_events) {
  constexpr int rounds = 200;
  struct shared {
    std::atomic<alpi_task*> task{nullptr};
    int calls = 0;
    nopal::counter left{1};
  } s;
  std::thread fulfils{[&] {
    for (int i = 0; i < rounds; ++i) {
      alpi_task* t = nullptr;
      while ((t = s.task.exchange(nullptr)) == nullptr) std::this_thread::yield();
      EXPECT_EQ(ALPI(alpi_task_events_decrease)(t, 1), ALPI_SUCCESS);
    }
  }};
  ASSERT_EQ(ALPI(alpi_task_spawn)(
                [](void* with) {
                  auto& all = *static_cast<shared*>(with);
                  if (++all.calls > rounds) return;
                  alpi_task* const me = self();
                  EXPECT_EQ(ALPI(alpi_task_suspend_mode_set)(me, ALPI_SUSPEND_EVENT_SUBMIT, 0), ALPI_SUCCESS);
                  EXPECT_EQ(ALPI(alpi_task_suspend)(me), ALPI_SUCCESS);
                  EXPECT_EQ(ALPI(alpi_task_events_increase)(me, 1), ALPI_SUCCESS);
                  all.task = me;
                },
                &s, [](void* with) { static_cast<shared*>(with)->left.done(); }, &s, nullptr, nullptr),
            ALPI_SUCCESS);
  nopal::wait_for(s.left);
  fulfils.join();
  EXPECT_EQ(s.calls, rounds + 1);
}

TEST_P(alpi_on, an_exception_of_a_task_goes_to_who_waits_for_it) {
  nopal::counter left;
  nopal::alpi::spawn(left, [] { throw std::runtime_error{"of a task"}; });
  EXPECT_THROW(nopal::wait_for(left), std::runtime_error);
  EXPECT_THROW(nopal::alpi::run([] { throw std::out_of_range{"of another"}; }), std::out_of_range);
}

TEST_P(alpi_on, a_task_after_a_failed_one_does_not_run_and_completes) {
  nopal::counter first;
  nopal::counter second;
  nopal::alpi::spawn(first, [] { throw std::runtime_error{"first"}; });
  bool ran = false;
  nopal::alpi::spawn(nopal::after(first), second, [&] { ran = true; });
  EXPECT_THROW(nopal::wait_for(second), std::runtime_error);
  EXPECT_THROW(nopal::wait_for(first), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(alpi, the_pool_of_tasks_stays_while_there_is_a_task) {
  tasks_on two{2};
  EXPECT_EQ(&nopal::alpi::pool_of_tasks(), &two.pool());
  nopal::alpi::run([&] {
    EXPECT_EQ(nopal::pool::current(), &two.pool());
    EXPECT_THROW(nopal::alpi::use(two.pool()), std::logic_error);
    EXPECT_THROW(nopal::alpi::use_default_pool(), std::logic_error);
  });
}

}  // namespace
