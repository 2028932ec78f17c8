// nopal::shutdown: what it waits for, what it returns, and that no work which arrives in that time is lost.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/nopal.h"
#include "nopal/nopal.hpp"
#include "program.hpp"

namespace {

using namespace std::chrono_literals;
using test::check;
using test::expect_success;
using test::fib;
using test::in_child;
using test::must_use_default_pool;

std::size_t threads() {
  std::size_t n = 0;
  for ([[maybe_unused]] auto const& t : std::filesystem::directory_iterator{"/proc/self/task"}) ++n;
  return n;
}

TEST(shutdown, ends_the_threads_and_the_next_use_starts_them_again) {
  expect_success(in_child([] {
    std::thread{[] {}}.join();  // with the first thread a sanitizer may start one of its own
    std::size_t const before = threads();
    check(nopal::shutdown(0s).empty(), "there is nothing to end");
    for (int k = 0; k < 20; ++k) {
      nopal::pool& pool = nopal::default_pool();
      nopal::spawn([] { nopal::sleep_for(1ms); });
      must_use_default_pool();
      check(threads() > before, "it has threads");
      check(nopal::shutdown(std::chrono::hours::max()).empty(), "nothing is left");
      check(threads() == before, "its threads have ended");
      check(nopal::shutdown(1ns).empty(), "it has ended already");
      switch (k % 4) {  // by the reference too
        case 0: check(pool.run(fib, 10L) == 55, "run"); break;
        case 1: check(pool.submit(fib, 10L).get() == 55, "submit"); break;
        case 2: {
          nopal::counter left;
          pool.spawn(left, [] { nopal::yield(); });
          nopal::wait_for(left);
          break;
        }
        case 3: check(&nopal::default_pool() == &pool, "it is the same"); break;
      }
    }
  }));
}

TEST(shutdown, waits_for_what_was_submitted) {
  expect_success(in_child([] {
    std::atomic<int> ended = 0;
    nopal::default_pool().detach([&] { nopal::sleep_for(20ms), ++ended; });
    nopal::spawn([&] {
      nopal::sleep_for(20ms);
      nopal::spawn([&] { nopal::sleep_for(20ms), ++ended; });
    });
    check(nopal::shutdown(10min).empty(), "nothing is left");
    check(ended == 2, "both have ended");
  }));
}

TEST(shutdown, waits_for_calls_of_run) {
  expect_success(in_child([] {
    std::atomic<int> step = 0;
    nopal::counter never{1};
    std::thread caller{[&] {
      nopal::default_pool().run([&] {
        step = 1;
        nopal::wait_for(never);
      });
      step = 3;
    }};
    while (step != 1) std::this_thread::yield();
    check(!nopal::shutdown(5ms).empty(), "the call has not ended");
    step = 2;
    never.done();
    check(nopal::shutdown(10min).empty(), "nothing is left");
    caller.join();
    check(step == 3, "the call has ended");
  }));
}

TEST(shutdown, says_what_still_waits) {
  expect_success(in_child([] {
    nopal::counter started{1}, never{1};
    nopal::spawn([&] {
      started.done();
      nopal::wait_for(never);
    });
    nopal::wait_for(started);
    std::string const left = nopal::shutdown(30ms);
    check(left.find("1 fibers and calls of run") != std::string::npos, left.c_str());
    check(left.find("1 native stack waits") != std::string::npos, left.c_str());
    check(left.find("waits for a counter at 0x") != std::string::npos, left.c_str());
    must_use_default_pool();
    never.done();
    check(nopal::shutdown(10min).empty(), "nothing is left");
  }));
}

TEST(shutdown, refuses_a_thread_that_works_for_a_pool) {
  expect_success(in_child([] {
    auto const refused = [] {
      try {
        static_cast<void>(nopal::shutdown(0s));
        return false;
      } catch (std::logic_error const& e) {
        return std::string{e.what()}.find("nopal::shutdown: called by a job") == 0;
      }
    };
    check(nopal::default_pool().run(refused), "in run");
    check(nopal::default_pool().submit(refused).get(), "in submit");
    nopal::pool other{{.workers = 1}};
    check(other.run(refused), "on another pool");
    check(nopal::shutdown(1min).empty(), "nothing is left");
  }));
}

nopal::task<char> fill(std::size_t bytes) {
  auto const all = co_await nopal::stack_array<char>(bytes);
  std::memset(all.data(), 1, bytes);
  co_return all[bytes / 2];
}

// Shutdown comes before the timer looks at what nothing uses. After the next start it looks again.
TEST(shutdown, the_next_start_gives_memory_back) {
  expect_success(in_child([] {
    nopal::pool& pool = nopal::default_pool();
    nopal::core::pool_state& state = nopal::core::pool_access::state(pool);
    if (state.keeps_own_time()) return;  // nothing is given back there
    constexpr std::size_t much = 64 << 20;
    do {
      check(pool.run(fill, much) == 1, "filled");
    } while (!state.looks_at_memory);
    check(nopal::shutdown(10min).empty(), "nothing is left");
    check(!state.looks_at_memory, "no thread will look");
    check(pool.run(fill, much) == 1, "filled again");
    auto const end = std::chrono::steady_clock::now() + 1min;
    while (pool.stats().segment_bytes_free > nopal::core::tuning::little_memory) {
      check(std::chrono::steady_clock::now() < end, "the memory went back");
      std::this_thread::sleep_for(20ms);
    }
  }));
}

TEST(shutdown, in_c) {
  expect_success(in_child([] {
    must_use_default_pool();
    check(nopal_shutdown(std::numeric_limits<int64_t>::max()) == NOPAL_OK, "ended");
    nopal::counter never{1};
    nopal::spawn([&] { nopal::wait_for(never); });
    check(nopal_shutdown(1'000'000) == NOPAL_TIMEOUT, "a fiber is left");
    check(std::string{nopal_last_error()}.find("nopal::shutdown: the time limit has expired") == 0, nopal_last_error());
    check(nopal_pool_run(nullptr, [](void*) { check(nopal_shutdown(0) == NOPAL_INVALID, "refused"); }, nullptr) == NOPAL_OK, "runs");
    never.done();
    check(nopal_shutdown(std::numeric_limits<int64_t>::max()) == NOPAL_OK, "ended again");
  }));
}

// Threads bring work of each kind while others end the pool again and again: nothing is lost.
TEST(shutdown, loses_nothing_that_comes_meanwhile) {
  expect_success(in_child([] {
    std::atomic<bool> stop = false;
    std::vector<std::thread> enders;
    for (int k = 0; k < 2; ++k) {
      enders.emplace_back([&] {
        while (!stop) {
          static_cast<void>(nopal::shutdown(100ms));
          std::this_thread::sleep_for(100us);
        }
      });
    }
    std::vector<std::thread> users;
    for (int k = 0; k < 3; ++k) {
      users.emplace_back([] {
        for (int n = 0; n < 300; ++n) {
          must_use_default_pool();
          if (n % 3 == 0) std::this_thread::sleep_for(200us);
        }
      });
    }
    for (auto& t : users) t.join();
    stop = true;
    for (auto& t : enders) t.join();
    check(nopal::shutdown(10min).empty(), "nothing is left");
  }));
}

}  // namespace
