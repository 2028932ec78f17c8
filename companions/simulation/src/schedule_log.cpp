#include "simulation/src/schedule_log.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <system_error>

#include "base/open_file.hpp"
#include "nopal/core/stack/stack.hpp"
#include "report/place.hpp"

// Not in programs that are linked statically.
#pragma weak dladdr

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit std::mutex beginning;
constinit std::string const* file_name =
    nullptr;                          // written before the file is there; never destroyed, as pools may end after static objects
constinit std::atomic<int> file{-1};  // -1: there is none
constinit std::atomic<bool> is_incomplete{false};  // and a message has said so

// One call, so that lines of several pools do not mix. A message says once that the log is not complete; shrink detects that, too. relaxed:
// the pool that logs was made after the file was opened.
void add(std::string const& line) noexcept {
  int const error = write_all(file.load(std::memory_order_relaxed), line);
  if (error == 0 || is_incomplete.exchange(true, std::memory_order_relaxed)) return;
  std::fprintf(stderr, "nopal: the log %s (from NOPAL_SCHEDULE_LOG) is not complete: %s; make room, or name another file\n",
               file_name->c_str(), std::strerror(error));
}

// The return addresses, the innermost first: on the calling thread's stack, or on `left`, which waits.
std::size_t calls(std::span<std::uintptr_t> pcs, stack const* left) {
  if (left == nullptr) return callers(pcs.data(), pcs.size());
  auto const* const from = static_cast<std::byte const*>(left->sp);
  auto const* const top = reinterpret_cast<std::byte const*>(left);
  if (from < left->low() || from >= top) return 0;
  return code_names::make()->walk({reinterpret_cast<std::uintptr_t>(from), {from, top}}, pcs);
}

// Appends "object+offset" for each that the loader knows.
void add_places(std::string& line, stack const* left) {
  if (&::dladdr == nullptr) return;
  std::array<std::uintptr_t, 32> pcs;
  std::size_t const n = calls(pcs, left);
  for (std::size_t k = 0; k < n; ++k) {
    Dl_info object{};
    auto* const inside = reinterpret_cast<void*>(pcs[k] - 1);  // NOLINT(performance-no-int-to-ptr)
    if (::dladdr(inside, &object) == 0 || object.dli_fname == nullptr) continue;
    std::array<char, 32> offset;
    std::snprintf(offset.data(), offset.size(), "+%#zx", pcs[k] - 1 - reinterpret_cast<std::uintptr_t>(object.dli_fbase));
    line.append("\t").append(object.dli_fname).append(offset.data());
  }
}

}  // namespace

void begin_schedule_log() {
  char const* const name = ::secure_getenv("NOPAL_SCHEDULE_LOG");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (name == nullptr || *name == '\0') return;
  std::lock_guard const guard{beginning};
  if (file.load(std::memory_order_relaxed) >= 0) return;  // relaxed: under the lock
  int const opened = open_for_writing(name, O_APPEND);
  if (opened < 0) {
    int const error = errno;
    throw std::system_error{error, std::generic_category(),
                            "nopal::pool: the log \"" + std::string{name} + "\" (from NOPAL_SCHEDULE_LOG) " + remedy_for(error)};
  }
  file_name = new std::string{name};
  file.store(opened, std::memory_order_relaxed);  // relaxed: as in add
}

void log_decision(listed_decision const& d, char what, unsigned from, stack const* left) noexcept {
  if (file.load(std::memory_order_relaxed) < 0) return;  // relaxed: as in add
  try {
    std::array<char, 96> text;
    std::snprintf(text.data(), text.size(), "%c\t%u.%llu>%u\t%d", what, d.pool, static_cast<unsigned long long>(d.at), d.to,
                  static_cast<int>(from));
    std::string line{text.data()};
    if (what == 'f' || what == 'w') add_places(line, left);
    add(line.append("\n"));
  } catch (std::exception const&) {  // no memory: shrink has one place less
  }
}

void log_end(schedule_choice const& choice, unsigned workers, std::uint64_t decisions, std::uint64_t lost) noexcept {
  if (file.load(std::memory_order_relaxed) < 0) return;  // relaxed: as in add
  try {
    std::array<char, 128> text;
    std::snprintf(text.data(), text.size(), "end\t%u\t%u\t%llu\t%llu\n", choice.pool, workers, static_cast<unsigned long long>(decisions),
                  static_cast<unsigned long long>(lost));
    add(text.data());
  } catch (std::exception const&) {
  }
}

}  // namespace nopal::core
