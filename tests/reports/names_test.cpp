// The names of pools, of what waits in them, and of their threads.
// Needs the companion debug.

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"
#include "reports.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::fiber_name;
using nopal::spawn;
using nopal::wait_for;
using test::report;

TEST(names, nest_and_are_cut) {
  nopal::pool pool{{.workers = 1, .name = "bank"}};
  counter one{1}, two{1};
  counter left;
  pool.run([&] {
    spawn(left, [&] {
      fiber_name const outer{"outer\nname"};
      {
        fiber_name const inner{"a name of more than thirty-one characters"};
        wait_for(one);
      }
      wait_for(two);
    });
  });
  report(pool, {"the pool bank: 1 native stack waits\n", " (a name of more than thirty-one ) waits for"});
  one.done();
  report(pool, {" (outer?name) waits for"});
  two.done();
  wait_for(left);
  fiber_name const off_a_pool{"nobody"};
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

std::string this_thread() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

/// The names of the threads that work for a pool.
std::string thread_of(nopal::pool& pool, unsigned i) {
  return pool
      .submit(
          [&, i](int) -> nopal::task<std::string> {
            co_await nopal::resume_on(pool.worker(i));
            co_return this_thread();
          },
          0)
      .get();
}

TEST(names, of_threads) {
  nopal::pool usual{{.workers = 2}};
  EXPECT_EQ(thread_of(usual, 0), "nopal:0");
  EXPECT_EQ(thread_of(usual, 1), "nopal:1");
  nopal::pool of_its_own{{.workers = 2, .name = "physics"}};
  EXPECT_EQ(thread_of(of_its_own, 1), "physics:1");
  nopal::pool longer{{.workers = 12, .name = "a very long name"}};
  EXPECT_EQ(thread_of(longer, 0), "a very long n:0");
  EXPECT_EQ(thread_of(longer, 11), "a very long :11");
  std::string const mine = this_thread();
  nopal::pool unnamed{{.workers = 1, .name = ""}};
  EXPECT_EQ(thread_of(unnamed, 0), mine);
}

TEST(names, of_the_timer) {
  nopal::pool pool{{.workers = 1, .name = "physics"}};
  pool.run([] { nopal::sleep_for(1ms); });
  bool found = false;
  for (int k = 0; k < 100 && !found; ++k) {
    std::FILE* const list = ::popen(("cat /proc/" + std::to_string(::getpid()) + "/task/*/comm").c_str(), "r");
    ASSERT_NE(list, nullptr);
    std::array<char, 64> line;
    while (std::fgets(line.data(), line.size(), list) != nullptr) found = found || std::string{line.data()} == "physics:timer\n";
    ::pclose(list);
  }
  EXPECT_TRUE(found);
}

TEST(names, with_control_characters_are_refused) {
  try {
    nopal::pool const pool{{.workers = 1, .name = "two\nlines"}};
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_EQ(std::string{e.what()},
              "nopal::pool: name = \"two?lines\" has a control character (shown as ?), and reports have a line for each thing; use "
              "printable ones");
  }
}

}  // namespace
