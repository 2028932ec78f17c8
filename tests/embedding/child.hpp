#pragma once

// What a child process does and prints, for tests of how processes end. The test's own process makes no pool, so that each child begins as
// a process without threads.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace test {

struct ended {
  int code = -1;     ///< the exit status; -1: a signal has ended it
  int signal = 0;    ///< SIGALRM: it hung
  std::string said;  ///< on stderr
};

/// Runs f in a child, which exits with 0 if f returns, and is killed if it hangs.
template <class F>
ended in_child(F f) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::abort();
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    rlimit const no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(500);
    f();
    std::_Exit(0);
  }
  ::close(ends[1]);
  ended e;
  std::array<char, 4096> text;
  for (ssize_t n; (n = ::read(ends[0], text.data(), text.size())) > 0;) e.said.append(text.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) std::abort();
  if (WIFEXITED(status)) e.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) e.signal = WTERMSIG(status);
  return e;
}

/// Writes to stderr at once, also if the process is about to end.
inline void say(char const* text) noexcept {
  std::fputs(text, stderr);
  std::fflush(stderr);
}

}  // namespace test
