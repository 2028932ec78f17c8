#include "base/open_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <ctime>

namespace nopal::inline NOPAL_ABI::core {

std::string absolute_name(std::string_view name) {
  char here[PATH_MAX];
  if (name.empty() || name.front() == '/' || ::getcwd(here, sizeof here) == nullptr) return std::string{name};
  std::string whole{here};
  if (whole.back() != '/') whole += '/';
  return whole.append(name);
}

// If no process reads a pipe, an ordinary open waits for a reader.
int open_for_writing(char const* name, int also) noexcept {
  int file = -1;
  do file = ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | also, 0666);
  while (file < 0 && errno == EINTR);
  if (file >= 0) ::fcntl(file, F_SETFL, also & O_APPEND);  // a write waits until the reader has made room
  return file;
}

char const* remedy_for(int error) noexcept {
  return error == ENXIO ? "is a pipe that nobody reads; begin to read it first, or name a file"
                        : "cannot be written; name a file in a directory that exists and may be written to";
}

int write_all(int file, std::string_view bytes) noexcept {
  sigset_t pipe, before, pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::sigpending(&pending);
  bool const was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    ::ssize_t const n = ::write(file, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  constexpr timespec at_once{};
  if (error == EPIPE && !was_pending) ::sigtimedwait(&pipe, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

bool is_pipe(int file) noexcept {
  struct ::stat s{};
  return ::fstat(file, &s) == 0 && S_ISFIFO(s.st_mode);
}

}  // namespace nopal::core
