// Files that the user names for output of the library, and that cannot be written: each gives a message, with its name and the reason.
// Needs the companions profile and simulation and trace.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

bool says(std::string const& text, std::string const& what) { return text.find(what) != text.npos; }

class environment {
 public:
  environment(char const* name, std::string const& value) : name_{name} {
    ::setenv(name, value.c_str(), 1);
  }  // NOLINT(concurrency-mt-unsafe)
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;
  ~environment() { ::unsetenv(name_); }  // NOLINT(concurrency-mt-unsafe)

 private:
  char const* name_;
};

// A folder for one test.
class folder {
 public:
  folder() : path_{testing::TempDir() + "nopal_files_XXXXXX"} {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error{path_};
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() {
    ::unlink(in("pipe").c_str());
    ::unlink(in("file").c_str());
    ::rmdir(path_.c_str());
  }
  std::string in(char const* name) const { return path_ + '/' + name; }
  std::string const& path() const { return path_; }
  std::string pipe() const {
    EXPECT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
    return in("pipe");
  }

 private:
  std::string path_;
};

void forks() {
  nopal::parallel_invoke([] {}, [] {});
}

// The message that a pool's constructor throws, or "".
template <class Exception>
std::string thrown() {
  try {
    nopal::pool{{.workers = 2}}.run(forks);
  } catch (Exception const& e) {
    return e.what();
  }
  return "";
}

std::string told_by_a_run() {
  testing::internal::CaptureStderr();
  nopal::pool{{.workers = 2}}.run([] {
    for (int k = 0; k < 20; ++k) forks();
  });
  return testing::internal::GetCapturedStderr();
}

// The size of the file that the environment names "file", in the folder where a pool is made that ends in another.
std::uintmax_t written_where_the_pool_was_made() {
  folder const here, there;
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  {
    nopal::pool pool{{.workers = 2}};
    std::filesystem::current_path(there.path());
    pool.run(forks);
  }
  std::filesystem::current_path(before);
  return std::filesystem::file_size(here.in("file"));
}

constexpr char const* cannot_be_written = "cannot be written; name a file in a directory";

// Nothing would be logged there, and the user who has named the file would wait for it.
TEST(files, a_log_of_decisions_without_a_schedule) {
  environment const log{"NOPAL_SCHEDULE_LOG", "/nonexistent/log"};
  EXPECT_TRUE(says(thrown<std::system_error>(), "the log \"/nonexistent/log\" (from NOPAL_SCHEDULE_LOG) cannot be written"));
}

// In this order: once the log is open it stays so for the process.
TEST(files, a_log_of_decisions_that_cannot_be_written) {
  folder const f;
  environment const schedule{"NOPAL_SCHEDULE", "random:1"};
  for (auto const& [name, why] : {std::pair{std::string{"/nonexistent/log"}, cannot_be_written},
                                  {f.path(), cannot_be_written},
                                  {f.pipe(), "is a pipe that nobody reads; begin to read it first"}}) {
    environment const log{"NOPAL_SCHEDULE_LOG", name};
    std::string const text = thrown<std::system_error>();
    EXPECT_TRUE(says(text, "the log \"" + name + "\" (from NOPAL_SCHEDULE_LOG) " + why)) << text;
  }
  environment const log{"NOPAL_SCHEDULE_LOG", "/dev/full"};
  EXPECT_EQ(
      told_by_a_run(),
      "nopal: the log /dev/full (from NOPAL_SCHEDULE_LOG) is not complete: No space left on device; make room, or name another file\n");
  EXPECT_EQ(told_by_a_run(), "");  // once
}

TEST(files, a_report_of_a_simulation_that_cannot_be_written) {
  folder const f;
  environment const schedule{"NOPAL_SCHEDULE", "simulate:2"};
  for (auto const& [name, why] : {std::pair{std::string{"/nonexistent/report"}, cannot_be_written},
                                  {f.path(), cannot_be_written},
                                  {f.pipe(), "is a pipe that nobody reads; begin to read it first"}}) {
    environment const costs{"NOPAL_SIMULATION", "report=" + name};
    std::string const text = thrown<std::system_error>();
    EXPECT_TRUE(says(text, "the report \"" + name + "\" " + why)) << text;
  }
  environment const costs{"NOPAL_SIMULATION", "report=/dev/full"};
  EXPECT_TRUE(says(told_by_a_run(), "the report /dev/full cannot be written: No space left on device; make room"));
}

// The pipe is not closed before there is a report: else its reader would have ended.
TEST(files, a_report_of_a_simulation_into_a_pipe) {
  folder const f;
  environment const schedule{"NOPAL_SCHEDULE", "simulate:2"};
  environment const costs{"NOPAL_SIMULATION", "report=" + f.pipe()};
  std::string const name = f.in("pipe");
  int const in = ::open(name.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(in, 0);
  nopal::pool pool{{.workers = 2}};
  char byte = 0;
  EXPECT_EQ(::read(in, &byte, 1), -1);  // 0 would be the end
  EXPECT_EQ(errno, EAGAIN);
  ::close(in);
}

TEST(files, costs_that_cannot_be_read) {
  folder const f;
  environment const schedule{"NOPAL_SCHEDULE", "simulate:2"};
  {
    environment const costs{"NOPAL_SIMULATION", std::string{'@'}.append(f.path())};
    EXPECT_TRUE(says(thrown<std::invalid_argument>(), "a file that cannot be read: Is a directory"));
  }
  std::string named{'@'};
  named += f.in("file");
  std::ofstream{f.in("file")} << named << '\n';
  environment const costs{"NOPAL_SIMULATION", named};
  EXPECT_TRUE(says(thrown<std::invalid_argument>(), "a file that is named inside of ten others, or of itself"));
}

TEST(files, a_trace_into_a_pipe_that_nobody_reads) {
  folder const f;
  environment const trace{"NOPAL_TRACE", f.pipe()};
  EXPECT_TRUE(says(thrown<std::system_error>(), "is a pipe that nobody reads; begin to read it first, or name a file"));
}

// The last output reaches the reader too: the pipe is not closed in between. A reader that has ended does not end the program.
TEST(files, a_trace_into_a_pipe) {
  folder const f;
  environment const trace{"NOPAL_TRACE", f.pipe()};
  std::string const name = f.in("pipe");
  int const reader = ::open(name.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  nopal::pool{{.workers = 1}}.run(forks);
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), 1);
  ::close(reader);
  testing::internal::CaptureStderr();
  nopal::pool{{.workers = 1}}.run(forks);
  EXPECT_TRUE(says(testing::internal::GetCapturedStderr(), "is not complete: Broken pipe"));
}

// The program changes its working directory between the two times at which the file is opened.
TEST(files, a_trace_with_a_relative_name) {
  environment const trace{"NOPAL_TRACE", "file"};
  EXPECT_GT(written_where_the_pool_was_made(), 0U);
}

TEST(files, a_report_of_a_simulation_with_a_relative_name) {
  environment const schedule{"NOPAL_SCHEDULE", "simulate:2"};
  environment const costs{"NOPAL_SIMULATION", "report=file"};
  EXPECT_GT(written_where_the_pool_was_made(), 0U);
}

}  // namespace
