#include "simulation/src/outside.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "nopal/core/wait/sleeping_thread.hpp"
#include "simulation/src/simulation.hpp"

namespace nopal::inline NOPAL_ABI::core {

unsigned threads_of_process() noexcept {
  constexpr unsigned unknown = std::numeric_limits<unsigned>::max();
  std::array<char, 512> text{};
  int const f = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (f < 0) return unknown;
  ssize_t const n = ::read(f, text.data(), text.size() - 1);
  ::close(f);
  if (n <= 0) return unknown;
  char const* at = std::strrchr(text.data(), ')');  // of "number (name) state …", the twentieth is the number of threads
  for (int k = 2; at != nullptr && k < 20; ++k) at = std::strchr(at + 1, ' ');
  unsigned threads = unknown;
  if (at != nullptr) std::from_chars(at + 1, text.data() + n, threads);
  return threads;
}

// With the lock. A thread that sleeps outside until it is woken, usually a caller of run, does nothing before.
bool simulation::nobody_acts_outside() const noexcept {
  unsigned known = static_cast<unsigned>(workers_.size()) + 1 + hands_.helpers();  // and the ticker
  sleeping_thread::for_each([&](sleeping_thread const& t) { known += t.waits_outside() ? 1 : 0; });
  return threads_of_process() <= known;
}

}  // namespace nopal::core
