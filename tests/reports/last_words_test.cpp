// A program that misuses the library ends with one line, which names the function.
// Needs the companion debug.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/scratch.hpp"

namespace guilty {

/// Before a function's end: prevents that its last call becomes a tail call.
inline void stays() { asm volatile("" ::: "memory"); }

nopal::task<> does_nothing() { co_return; }

[[gnu::noinline]] nopal::task<> never_joins() {
  co_await nopal::fork(does_nothing);
  co_return;
}
[[gnu::noinline]] nopal::task<int> throws_before_its_join(int n) {
  co_await nopal::fork(does_nothing);
  if (n > 0) throw std::runtime_error{"lost"};
  co_await nopal::join;
  co_return n;
}
[[gnu::noinline]] nopal::task<> throws() {
  throw std::runtime_error{"lost"};
  co_return;
}
[[gnu::noinline]] void joins_anothers(nopal::scope& s) {
  s.join();
  stays();
}
[[gnu::noinline]] void forks_anothers(nopal::scope& s) {
  s.fork([] {});
  stays();
}
[[gnu::noinline]] void unlocks(nopal::mutex& m) {
  m.unlock();
  stays();
}
[[gnu::noinline]] void destroys(nopal::counter* c) {
  std::destroy_at(c);
  stays();
}
[[gnu::noinline]] nopal::task<> moves_between_fork_and_join(nopal::pool& p) {
  co_await nopal::fork(does_nothing);
  co_await nopal::resume_on(p.worker(0));
}
[[gnu::noinline]] nopal::task<> takes_nothing() { auto const none = co_await nopal::stack_array<int>(0); }

}  // namespace guilty

namespace {

/// One line that ends with the function.
std::string line(std::string const& words, std::string const& function) {
  return "nopal: [^\n]*" + words + "[^\n]* \\(in [^\n]*" + function + "[^\n]*\\)\n";
}

class last_words : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, test::death_test_style()); }
};

TEST_F(last_words, of_a_task_that_does_not_join) {
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(guilty::never_joins), line("forked children not joined", "guilty::never_joins\\(\\)"));
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run(guilty::throws_before_its_join, 1),
               line("between fork and join.*\\(lost\\)", "guilty::throws_before_its_join\\(int\\)"));
}

TEST_F(last_words, of_a_task_that_was_called_directly) {
  EXPECT_DEATH(static_cast<void>(guilty::never_joins()), line("called directly", "guilty::never_joins\\(\\)"));
}

TEST_F(last_words, of_jobs_and_fibers_that_throw) {
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.detach(guilty::throws), line("pool::detach \\(lost\\)", "guilty::throws\\(\\)"));
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.detach([] { throw std::runtime_error{"lost"}; }),
               line("pool::detach \\(lost\\)", "of_jobs_and_fibers_that_throw"));
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] { nopal::spawn([] { throw std::runtime_error{"lost"}; }); }),
               line("left a fiber \\(lost\\)", "of_jobs_and_fibers_that_throw"));
}

TEST_F(last_words, of_scopes_on_other_stacks) {
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] {
    nopal::scope s;
    s.fork([] {});
    nopal::scope inner;
    inner.fork([&] { guilty::forks_anothers(s); });
  }),
               line("a scope forked on another stack", "guilty::forks_anothers\\("));
  EXPECT_DEATH(nopal::pool{{.workers = 2}}.run([] {
    nopal::counter one{1};
    nopal::scope s;
    s.fork([&] { nopal::wait_for(one); });  // so that it has a child to wait for
    nopal::scope inner;
    inner.fork([&] { guilty::joins_anothers(s); });
  }),
               line("a scope was joined on another stack", "guilty::joins_anothers\\("));
}

TEST_F(last_words, of_who_unlocks_and_who_destroys) {
  EXPECT_DEATH(
      {
        nopal::mutex m;
        guilty::unlocks(m);
      },
      line("that is not locked", "guilty::unlocks\\("));
  EXPECT_DEATH(nopal::pool{{.workers = 1}}.run([] {
    nopal::mutex m;
    m.lock();
    nopal::counter left;
    nopal::spawn(left, [&] {
      nopal::fiber_name const me{"thief"};
      guilty::unlocks(m);
    });
    nopal::wait_for(left);
  }),
               line("unlocked by another fiber", "guilty::unlocks\\([^\n]*, thief"));
  EXPECT_DEATH(
      {
        alignas(nopal::counter) static std::byte memory[sizeof(nopal::counter)];
        guilty::destroys(::new (memory) nopal::counter{1});
      },
      line("a counter was destroyed at 1", "guilty::destroys\\("));
}

TEST_F(last_words, of_a_name_on_another_stack) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run(
            [](nopal::pool& p) -> nopal::task<> {
              nopal::fiber_name const me{"wanderer"};
              unsigned const elsewhere = 1 - nopal::this_worker::index();
              co_await nopal::resume_on(p.worker(elsewhere));
            },
            pool);
      },
      "nopal: a nopal::fiber_name ended on another native stack than its own");
}

// An exception that is not fatal names the function too.
TEST(misuse, that_is_thrown_names_the_task) {
  nopal::pool pool{{.workers = 1}};
  try {
    pool.run(guilty::moves_between_fork_and_join, pool);
    FAIL();
  } catch (std::logic_error const& e) {
    EXPECT_NE(std::string{e.what()}.find(" (in guilty::moves_between_fork_and_join("), std::string::npos) << e.what();
  }
  try {
    pool.run(guilty::takes_nothing);
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_NE(std::string{e.what()}.find(" (in guilty::takes_nothing("), std::string::npos) << e.what();
  }
}

}  // namespace
