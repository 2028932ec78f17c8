#include "nopal/core/stack/refusal.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "nopal/core/stack/stack_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit std::mutex writing;
constinit std::array<char, 1024> text{};  // under `writing`: the caller's stack may be nearly full

[[gnu::format(printf, 1, 2)]] void say(char const* format, ...) noexcept {
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
}

// A limit of the process; 0 if there is none.
unsigned long limit_on(int what) noexcept {
  rlimit l{};
  return ::getrlimit(static_cast<decltype(RLIMIT_AS)>(what), &l) == 0 && l.rlim_cur != RLIM_INFINITY
             ? static_cast<unsigned long>(l.rlim_cur)
             : 0;
}

// Names the number of mappings, if that is the limit that was met.
bool say_mappings() noexcept {
  mapping_counts const m = count_mappings();
  if (m.have == 0 || m.have < m.most - mappings_left(m.most) - m.most / 64) return false;
  say("the process has %ld of the %ld mappings that vm.max_map_count allows, and %ld are left to the program; raise it (sysctl -w "
      "vm.max_map_count=...), or run on Linux 6.13 or newer, where guard pages need no mappings",
      m.have, m.most, mappings_left(m.most));
  return true;
}

// Names a limit of the process, if it was met. `word`: the word of /proc/self/statm that counts against it, in pages.
bool say_limit(int what, char const* called, int word, std::size_t size) noexcept {
  unsigned long const most = limit_on(what);
  long const pages = read_number("/proc/self/statm", word);
  if (most == 0 || pages < 0) return false;
  unsigned long const have = static_cast<unsigned long>(pages) * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
  if (have + 2 * size <= most) return false;
  say("the process has %lu of the %lu bytes that %s allows; raise that", have, most, called);
  return true;
}

// Names the address space, if most of 2^47 bytes are used.
bool say_address_space() noexcept {
  constexpr int nearly = 46;
  long const pages = read_number("/proc/self/statm");
  if (pages < 0 || pages <= (1L << nearly) / ::sysconf(_SC_PAGESIZE)) return false;
  say("the address space is used up; lower pool_options::stack_size");
  return true;
}

void say_reason(std::size_t size, int error) noexcept {
  constexpr int all = 0, data = 5;
  if (say_mappings() || say_limit(RLIMIT_AS, "RLIMIT_AS (ulimit -v)", all, size) ||
      say_limit(RLIMIT_DATA, "RLIMIT_DATA (ulimit -d)", data, size)) {
    return;
  }
  if (error == EAGAIN) {
    say("the program has locked its memory (mlockall), of which RLIMIT_MEMLOCK (ulimit -l) allows %lu bytes; raise that",
        limit_on(RLIMIT_MEMLOCK));
  } else if (read_number("/proc/sys/vm/overcommit_memory") == 2) {
    say("vm.overcommit_memory is 2, and the system has promised as much memory as it may; raise vm.overcommit_ratio, or set "
        "vm.overcommit_memory to 0");
  } else if (!say_address_space()) {
    say("the system says: %s; look at the limits of the process (ulimit -a) and of its cgroup (memory.max)", std::strerror(error));
  }
}

}  // namespace

void print_refusal(std::uint64_t stacks, std::size_t size, int error) noexcept {
  std::lock_guard const guard{writing};
  say_reason(size, error);
  std::fprintf(
      stderr,
      "nopal: no memory for another native stack: this pool has %llu, of %zu bytes each, and %s. Or let fewer fibers and tasks wait "
      "at once. Until then forks run serially, and what waits keeps its thread\n",
      static_cast<unsigned long long>(stacks), size, text.data());
  std::fflush(stderr);
}

void hold_refusal() noexcept { writing.lock(); }
void release_refusal() noexcept { writing.unlock(); }

}  // namespace nopal::core
