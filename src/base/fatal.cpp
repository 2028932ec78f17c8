#include "nopal/core/base/fatal.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "nopal/core/base/process.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The message is flushed first, in case the search for the function's name fails.
[[noreturn]] static void die_saying(char const* what, void const* function) noexcept {
  std::fputs("nopal: ", stderr);
  std::fputs(what, stderr);
  if (process_number != 1) std::fputs(" (this process is the child of a fork, and has none of its parent's threads)", stderr);
  std::fflush(stderr);
  print_place(function);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

void die(char const* what) noexcept { die_saying(what, nullptr); }

void die_in(void const* function, char const* format, ...) noexcept {
  std::array<char, 1024> text;
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
  die_saying(text.data(), function);
}

void die_unless_in_exit(char const* what) noexcept {
  if (!is_in_exit()) die(what);
}

std::exception_ptr caught() noexcept {
  std::exception_ptr e = std::current_exception();
  if (e == nullptr) {
    die("pthread_exit or pthread_cancel in a job, whose thread is not the job's to end; let the job return, or throw an exception");
  }
  return e;
}

char const* message_of(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& x) {
    return x.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace nopal::core
