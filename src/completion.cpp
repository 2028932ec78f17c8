#include "nopal/core/completion.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace nopal::core {

void completion::set() noexcept {
  if (!running_.done_if_quiet(1)) running_.done_slowly(1);
}

void completion::wait() noexcept { running_.wait(0, "a future"); }

bool completion::wait_until(time_point limit) {
  if (is_set()) return true;
  if (limit <= std::chrono::steady_clock::now()) return false;  // who only asks needs no timer
  return running_.wait_until(0, limit, "a future, with a time limit");
}

void throw_empty_future(char const* what) {
  throw std::logic_error{std::string{"nopal: "} + what +
                         " on an empty future: its result was taken by get() or co_await, it was moved from, or it never had a job. Take the "
                         "result once and keep it, move on the future that pool::submit returns, or ask valid() first"};
}

}  // namespace nopal::core
