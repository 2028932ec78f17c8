#include "scheduler/option_checks.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"

namespace nopal::inline NOPAL_ABI::core {

void reject(std::string const& what) { throw std::invalid_argument{"nopal::pool: " + what}; }

void check_stack_size(std::size_t n) {
  if (n < tuning::least_stack) {
    reject("stack_size = " + std::to_string(n) + " bytes is less than the " + std::to_string(tuning::least_stack) +
           " that a native stack needs; leave it at its default of 1 MiB");
  }
  if (n > tuning::most_stack) {
    reject("stack_size = " + std::to_string(n) + " bytes is more than the limit of " + std::to_string(tuning::most_stack) +
           "; leave it at its default of 1 MiB");
  }
}

void check_keep_warm(std::chrono::nanoseconds t) {
  if (t.count() >= 0) return;
  reject("keep_warm = " + std::to_string(t.count()) + " ns is below 0; leave it at 0 for a worker that sleeps after 0.2 ms");
}

void check_blocking_threads(unsigned n) {
  if (n != 0) return;
  reject("blocking_threads = 0 leaves no thread for nopal::block_on; ask for at least 1, or leave it at its default of 64");
}

void check_name(std::string const& name) {
  auto const is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::none_of(name.begin(), name.end(), is_control)) return;
  std::string shown;
  for (char const c : name) shown += is_control(static_cast<unsigned char>(c)) ? '?' : c;
  reject("name = \"" + shown + "\" has a control character (shown as ?), and reports have a line for each thing; use printable ones");
}

void check_thread_limits(unsigned workers) {
  if (workers < tuning::workers_to_check) return;
  if (auto const limit = limit_below(read_thread_limits(), workers)) {
    throw std::system_error{EAGAIN, std::generic_category(),
                            "nopal::pool: workers = " + std::to_string(workers) + " is more than can be started: " + limit->in_words() +
                                ", and room is left for " + std::to_string(limit->room()) + " workers; ask for fewer, or " + limit->remedy};
  }
}

unsigned number_in(char const* variable, unsigned most, char const* meaning, char const* remedy) {
  char const* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  if (text == nullptr || *text == '\0') return 0;
  std::string_view const number{text};
  unsigned n = 0;
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), n);
  if (error != std::errc{} || end != number.data() + number.size() || n > most) {
    reject(std::string{variable} + " = \"" + std::string{number} + "\" is no " + meaning + std::to_string(most) + "; " + remedy);
  }
  return n;
}

unsigned workers_in_environment() {
  return number_in("NOPAL_WORKERS", tuning::most_workers, "number of workers from 1 to ",
                   "write one, or unset it: one worker per usable CPU then");
}

}  // namespace nopal::core
