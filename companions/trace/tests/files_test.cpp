// Which file a trace is written to, when, and the message if it cannot be written.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nopal/nopal.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "decoded.hpp"
#include "file.hpp"

namespace {

using decoded::type;

// NOPAL_TRACE, for one test.
class environment {
 public:
  explicit environment(std::string const& file) { ::setenv("NOPAL_TRACE", file.c_str(), 1); }  // NOLINT(concurrency-mt-unsafe)
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;
  ~environment() { ::unsetenv("NOPAL_TRACE"); }  // NOLINT(concurrency-mt-unsafe)
};

std::size_t jobs(decoded::trace const& t) { return t.count(type::begin, "job") + t.count(type::begin, "job, by its caller"); }

TEST(trace_file, of_the_environment) {
  trace_file const file{"environment"};
  environment const e{file.name()};
  nopal::pool{{.workers = 1}}.run([] {});
  EXPECT_EQ(jobs(decoded::trace{file.name()}), 1U);
}

TEST(trace_file, of_the_options_before_that_of_the_environment) {
  trace_file const file{"options"};
  trace_file const other{"other"};
  environment const e{other.name()};
  nopal::pool{{.workers = 1, .trace = file.name()}}.run([] {});
  EXPECT_EQ(jobs(decoded::trace{file.name()}), 1U);
  EXPECT_FALSE(std::filesystem::exists(other.name()));
}

TEST(trace_file, none_where_nobody_asks) {
  environment const e{""};
  nopal::pool{{.workers = 1}}.run([] {});
}

// NOPAL_TRACE_EVENTS, for one test.
class environment_of_events {
 public:
  explicit environment_of_events(char const* n) { ::setenv("NOPAL_TRACE_EVENTS", n, 1); }  // NOLINT(concurrency-mt-unsafe)
  environment_of_events(environment_of_events const&) = delete;
  environment_of_events& operator=(environment_of_events const&) = delete;
  ~environment_of_events() { ::unsetenv("NOPAL_TRACE_EVENTS"); }  // NOLINT(concurrency-mt-unsafe)
};

std::size_t drops_of_a_hundred_jobs(trace_file const& file, nopal::pool_options const& options) {
  {
    nopal::pool pool{options};
    for (int k = 0; k < 100; ++k) pool.submit([] {}).get();
  }
  return decoded::trace{file.name()}.count(type::instant, "events dropped");
}

TEST(trace_file, has_room_for_as_many_events_as_the_environment_says) {
  trace_file const file{"few"};
  environment const e{file.name()};
  environment_of_events const few{"16"};
  EXPECT_NE(drops_of_a_hundred_jobs(file, {.workers = 1}), 0U);
  trace_file const own{"own"};
  EXPECT_EQ(drops_of_a_hundred_jobs(own, {.workers = 1, .trace = own.name()}), 0U);  // the options are the program's own
  environment_of_events const enough{"4096"};
  trace_file const other{"enough"};
  environment const to_other{other.name()};
  EXPECT_EQ(drops_of_a_hundred_jobs(other, {.workers = 1, .trace_events = 16}), 0U);
}

TEST(trace_file, has_no_room_for_what_is_no_number_of_events) {
  trace_file const file{"events"};
  environment const e{file.name()};
  for (char const* const text : {"0", "-1", "12 ", "many", "1073741825", "99999999999999999999"}) {
    environment_of_events const wrong{text};
    try {
      nopal::pool const pool{{.workers = 1}};
      ADD_FAILURE() << text;
    } catch (std::invalid_argument const& what) {
      EXPECT_NE(std::string{what.what()}.find('"' + std::string{text} + '"'), std::string::npos) << what.what();
      EXPECT_NE(std::string{what.what()}.find("from 1 to 1073741824"), std::string::npos) << what.what();
    }
  }
}

// Pools of one process share a file, each with a group of its own.
TEST(trace_file, of_several_pools) {
  trace_file const file{"several"};
  environment const e{file.name()};
  for (int k = 0; k < 3; ++k) nopal::pool{{.workers = 1, .name = "pool" + std::to_string(k)}}.run([] {});
  decoded::trace const t{file.name()};
  EXPECT_EQ(jobs(t), 3U);
  std::size_t pools = 0;
  for (auto const& [id, track] : t.tracks) pools += track.name.starts_with("pool pool") ? 1 : 0;
  EXPECT_EQ(pools, 3U);
}

TEST(trace_file, with_the_number_of_the_process) {
  std::string const name = "trace_number_" + std::to_string(::getpid()) + "_x.pftrace";
  nopal::pool{{.workers = 1, .trace = "trace_number_%p_x.pftrace"}}.run([] {});
  EXPECT_EQ(jobs(decoded::trace{name}), 1U);
  std::filesystem::remove(name);
}

TEST(trace_file, that_cannot_be_written) {
  try {
    nopal::pool const pool{{.workers = 1, .trace = "no/such/folder/x.pftrace"}};
    FAIL();
  } catch (std::system_error const& e) {
    std::string const what = e.what();
    EXPECT_NE(what.find("no/such/folder/x.pftrace"), std::string::npos) << what;
    EXPECT_NE(what.find("pool_options::trace"), std::string::npos) << what;
    EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
  }
  environment const env{"no/such/folder/y.pftrace"};
  try {
    nopal::pool const pool{{.workers = 1}};
    FAIL();
  } catch (std::system_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("NOPAL_TRACE"), std::string::npos) << e.what();
  }
}

TEST(trace_file, wrong_number_of_events) {
  trace_file const file{"number"};
  EXPECT_THROW(nopal::pool(nopal::pool_options{.workers = 1, .trace = file.name(), .trace_events = 0}), std::invalid_argument);
  EXPECT_THROW(nopal::pool(nopal::pool_options{.workers = 1, .trace = file.name(), .trace_events = ~std::size_t{0}}),
               std::invalid_argument);
}

// A full disk: one line, and the program continues. The device fails every write in that way.
TEST(trace_file, that_becomes_full) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  testing::internal::CaptureStderr();
  nopal::pool{{.workers = 1, .trace = "/dev/full"}}.run([] {});
  std::string const said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("nopal: the trace /dev/full is not complete: "), std::string::npos) << said;
}

#if !NOPAL_TSAN  // it does not follow the child of a fork that starts threads

// Runs f in a child process, which then exits.
template <class F>
void in_a_process(F f) {
  pid_t const child = ::fork();
  if (child == 0) {
    f();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The default pool lives until the process ends, and is written then; so are spans around everything.
TEST(trace_file, of_the_default_pool_is_written_at_exit) {
  trace_file const file{"exit"};
  in_a_process([&] {
    environment const e{file.name()};
    nopal::trace_span const before_any_pool{"all"};
    nopal::parallel_invoke([] {}, [] {});
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): neither the span nor the pool is destroyed
  });
  decoded::trace const t{file.name()};
  EXPECT_GE(jobs(t), 1U);
  EXPECT_EQ(t.named("all").size(), 1U);
}

TEST(trace_file, of_a_job_that_calls_exit) {
  trace_file const file{"exit_in_job"};
  in_a_process([&] {
    environment const e{file.name()};
    nopal::default_pool().run([] { std::exit(0); });  // NOLINT(concurrency-mt-unsafe)
  });
  EXPECT_GE(jobs(decoded::trace{file.name()}), 1U);
}

// After shutdown the threads may start again: what they do then is added.
TEST(trace_file, of_a_pool_that_was_shut_down) {
  trace_file const file{"shutdown"};
  in_a_process([&] {
    environment const e{file.name()};
    for (int k = 0; k < 2; ++k) {
      nopal::default_pool().run([] {});
      static_cast<void>(nopal::shutdown(std::chrono::minutes{1}));
      if (jobs(decoded::trace{file.name()}) != static_cast<std::size_t>(k) + 1) std::_Exit(1);
    }
  });
  EXPECT_EQ(jobs(decoded::trace{file.name()}), 2U);
}

// The child of a fork does not write what its parent has recorded.
TEST(trace_file, is_not_written_by_a_child) {
  trace_file const file{"child"};
  {
    nopal::pool pool{{.workers = 1, .trace = file.name()}};
    nopal::trace_span const s{"parent's"};
    pool.run([] {});
    in_a_process([] {});
    EXPECT_EQ(std::filesystem::file_size(file.name()), 0U);
  }
  EXPECT_EQ(jobs(decoded::trace{file.name()}), 1U);
}

#endif

}  // namespace
