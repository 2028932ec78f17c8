#include "nopal/profile.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/open_file.hpp"
#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/scheduler/threads.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "profile/src/report.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

namespace {

// ---- The cost of a steal on this machine.

constexpr double usual = 1500;  // nanoseconds: usual on machines of some ten CPUs
constexpr std::size_t rounds = 201;
constexpr std::size_t least_rounds = 21;
constexpr std::chrono::milliseconds patience{100};

// Times one fork: its first half waits for a thief to begin the second. 0: no thief did in time.
std::uint64_t one_steal(std::chrono::steady_clock::time_point deadline) {
  std::atomic<std::uint64_t> begun{0};
  std::uint64_t const from = clock_ticks();
  parallel_invoke(
      [&] {
        // relaxed, here and below: a number; nothing else is read because of it.
        for (int n = 1; begun.load(std::memory_order_relaxed) == 0; ++n) {
          std_sync::relax();
          if (n % 1024 == 0 && std::chrono::steady_clock::now() >= deadline) return;
        }
      },
      [&] { begun.store(clock_ticks(), std::memory_order_relaxed); });
  std::uint64_t const at = begun.load(std::memory_order_relaxed);
  return std::chrono::steady_clock::now() < deadline && at > from ? at - from : 0;
}

void time_steals(pool& two, std::vector<std::uint64_t>& taken) {
  two.run([&] {
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (taken.size() < rounds) {
      std::uint64_t const t = one_steal(deadline);
      if (t == 0) return;
      taken.push_back(t);
    }
  });
}

// A worker of another pool would leave its stack where it waits for the pool of two, and run others, which may need the burden too. So a
// thread of its own waits for that pool, and ends it. The caller makes the pool, since it may hold the loader's lock, which that takes.
std::vector<std::uint64_t> steals() {
  std::vector<std::uint64_t> taken;
  pool_options options;
  options.workers = 2;
  options.idle = idle::busy;
  options.pin = false;
  auto two = std::make_unique<pool>(options);
  std::thread waits;
  {
    only_own_signals const until_it_has_begun;
    waits = std::thread{[&taken, two = std::move(two)]() mutable noexcept {
      try {
        time_steals(*two, taken);
      } catch (std::exception const&) {  // there is no memory: fewer are timed
      }
      two.reset();
    }};
  }
  waits.join();
  return taken;
}

/// In ticks of the processor's clock: from a fork until a worker that searches runs the later half, the median of many. The first call
/// measures it, in some milliseconds, with a pool of two workers; if two cannot run at once it is a usual value. Any thread. Does not
/// suspend: its caller keeps its thread.
std::uint64_t burden_of_this_machine() {
  static std::uint64_t measured = 0;
  static constinit std::once_flag once;
  std::call_once(once, [] {
    measured = static_cast<std::uint64_t>(usual * ticks_per_nanosecond());
    // Under NOPAL_SCHEDULE one worker runs at a time. NOLINTNEXTLINE(concurrency-mt-unsafe): the environment must not change during the
    // call
    if (std::getenv("NOPAL_SCHEDULE") != nullptr) return;
    try {
      std::vector<std::uint64_t> taken = steals();
      if (taken.size() < least_rounds) return;
      auto const middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
      std::nth_element(taken.begin(), middle, taken.end());
      measured = *middle;
    } catch (std::exception const&) {  // there are no threads or stacks for that pool
    }
  });
  return measured;
}

// ---- A region as a procedure: for nopal::profile, and for the region of the whole process.

constexpr double most_burden = 1e15;

constinit std::atomic<std::uint32_t> regions{0};

// In ticks, or calls.
std::uint64_t burden_of(profile_unit unit, double burden) {
  if (std::isnan(burden) || burden > most_burden) {
    throw std::invalid_argument{"nopal: the burden of a profile is " + std::to_string(burden) +
                                "; give a number of nanoseconds or calls from 0 to 1e15, or less than 0 for what this machine has"};
  }
  if (unit == profile_unit::calls) return burden >= 0 ? static_cast<std::uint64_t>(std::llround(burden)) : 0;
  if (burden < 0) return burden_of_this_machine();
  return static_cast<std::uint64_t>(std::llround(burden * ticks_per_nanosecond()));
}

constinit std::mutex asking;  // of the list of places

constinit fork_hook at_fork_of_places{[]() noexcept { asking.lock(); }, [](bool) noexcept { asking.unlock(); }};
[[gnu::constructor]] void hold_places_at_fork() noexcept { call_at_fork(at_fork_of_places); }

// Parses "file.cpp:12". Finds a place again that was asked of before. Throws std::invalid_argument and std::bad_alloc.
asked_place const* asked(std::string const& what_if) {
  if (what_if.empty()) return nullptr;
  std::size_t const colon = what_if.rfind(':');
  char const* const digits = what_if.c_str() + (colon == what_if.npos ? what_if.size() : colon + 1);
  char const* const end = what_if.c_str() + what_if.size();
  std::uint32_t line = 0;
  auto const [read_to, error] = std::from_chars(digits, end, line);
  if (colon == 0 || error != std::errc{} || read_to != end || line == 0) {
    throw std::invalid_argument{"nopal: what_if of a profile is '" + what_if +
                                "'; give the place of a fork, such as sort.cpp:12, or nothing"};
  }
  std::lock_guard const guard{asking};
  static auto* const places = new std::list<asked_place>;  // never destroyed: procedures may outlive their region
  std::string const file = what_if.substr(0, colon);
  for (asked_place const& p : *places) {
    if (p.line == line && p.file == file) return &p;
  }
  return &places->emplace_back(asked_place{file, line});
}

// Adds an inner region to `outer`, the procedure of the outer region that contains it. Throws std::bad_alloc.
void add_to_outer(procedure& outer, procedure const& inner) {
  outer.at.span += inner.at.span;
  outer.at.burdened += inner.at.burdened;
  bool const asks_alike = inner.in.asks != nullptr && outer.in.asks == inner.in.asks;
  outer.at.if_free += asks_alike ? inner.at.if_free : inner.at.span;
  outer.series += asks_alike ? inner.series : inner.at.span;
  outer.series_known = outer.series_known && (!asks_alike || inner.series_known);
  auto const site_of = [&](site_id s) { return s == site_of_region ? outer.site : s; };
  outer.at.longest.go_on(outer.site, std::exchange(outer.to_path, 0));
  for (path::part const p : inner.at.longest.parts()) outer.at.longest.go_on(site_of(p.site), p.amount);
  std::vector<site_totals> const all = totals_of(inner.in.region);
  for (site_id s = 0; s < all.size(); ++s) {
    if (s == site_of_region) {
      outer.work += all[s].work;
    } else if (all[s].procedures != 0 || all[s].work != 0) {
      add_to_totals(outer.in.region, s, all[s]);
    }
  }
}

/// Begins the region `p` inside the procedure that runs here. Throws std::invalid_argument if that is measured in another unit, or the
/// burden is not a number; std::bad_alloc.
void begin_region(procedure& p, profile_unit unit, double burden, std::string const& what_if) {
  bool const in_calls = unit == profile_unit::calls;
  procedure const* const around = procedure_here();
  if (around != nullptr && around->in.in_calls != in_calls) {
    throw std::invalid_argument{"nopal: a profile lies in a region that is measured in another unit; give both the unit of the outer one"};
  }
  procedure_start s;
  {
    pause_in_profile const measuring_the_machine;
    s.in = {0, in_calls, burden_of(unit, burden), nullptr};
    s.in.asks = asked(what_if);
    measure_hook_time();
  }
  s.in.region = regions.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only unique
  s.site = site_of_region;
  s.returns = false;
  p.begin(s);
  if (in_calls) p.work = p.to_path = p.at.span = p.at.burdened = p.at.if_free = p.series = 0;  // it is not a call
}

/// Ends the region, and adds it to the procedure around it. By the function that has begun it.
void end_region(procedure& p) noexcept {
  p.end();
  procedure* const around = procedure_here();
  if (around == nullptr) return;
  around->leave();
  try {
    add_to_outer(*around, p);
  } catch (std::bad_alloc const&) {
    out_of_memory();
  }
  around->come_back();
}

/// Frees what was counted for the region, which is no longer used.
void forget_region(procedure const& p) noexcept {
  forget_totals(p.in.region);
  forget_signals(p.in.region);
}

// ---- The region of the whole process, by NOPAL_PROFILE_OUT, NOPAL_PROFILE_UNIT, NOPAL_PROFILE_BURDEN and NOPAL_PROFILE_WHAT_IF.

procedure* whole_process = nullptr;  // never destroyed: procedures may end after static objects
unsigned begun_in = 0;               // the process_number
std::string* file_wanted = nullptr;
int kept_pipe = -1;  // a pipe stays open, since its reader would else see the end of the file

// Before the run, so that a file that cannot be written is reported at once.
void check_file() noexcept {
  if (*file_wanted == "-") return;
  int const out = open_for_writing(file_wanted->c_str(), 0);
  if (out < 0) {
    die_in(nullptr,
           "the profile cannot be written to NOPAL_PROFILE_OUT, %s: %s; name a file in a directory that exists and may be written to",
           file_wanted->c_str(), std::strerror(errno));
  }
  if (is_pipe(out)) {
    kept_pipe = out;
  } else {
    ::close(out);
  }
}

profile_unit unit_wanted() noexcept {
  char const* const unit = ::secure_getenv("NOPAL_PROFILE_UNIT");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (unit == nullptr || *unit == '\0' || std::strcmp(unit, "time") == 0) return profile_unit::time;
  if (std::strcmp(unit, "calls") == 0) return profile_unit::calls;
  die_in(nullptr, "NOPAL_PROFILE_UNIT is '%s'; it can be time or calls, or not be set", unit);
}

double burden_wanted() noexcept {
  char const* const burden = ::secure_getenv("NOPAL_PROFILE_BURDEN");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (burden == nullptr || *burden == '\0') return -1;
  char* end = nullptr;
  double const value = std::strtod(burden, &end);
  if (*end == '\0' && value >= 0 && value <= most_burden) return value;
  die_in(nullptr, "NOPAL_PROFILE_BURDEN is '%s'; it can be a number of nanoseconds or calls from 0 to 1e15, or not be set", burden);
}

// At the end of the process, on the thread that ends it. The child of a fork writes nothing: its parent does.
void write() noexcept {
  if (process_number != begun_in) return;
  try {
    end_region(*whole_process);
    profile_report const r = report_of(*whole_process);
    if (*file_wanted == "-") {
      std::fputs(r.table().c_str(), stderr);
      return;
    }
    std::string const json = r.json();
    int const out = kept_pipe >= 0 ? kept_pipe : open_for_writing(file_wanted->c_str(), O_TRUNC);
    int error = out < 0 ? errno : write_all(out, json);
    if (out >= 0 && ::close(out) != 0 && error == 0) error = errno;
    if (error == 0) return;
    std::fprintf(stderr, "nopal: the profile cannot be written to NOPAL_PROFILE_OUT, %s: %s; name another file\n", file_wanted->c_str(),
                 std::strerror(error));
  } catch (std::exception const& e) {
    std::fprintf(stderr, "nopal: there is no profile in NOPAL_PROFILE_OUT: %s\n", e.what());
  }
}

}  // namespace

void begin_process_region() noexcept {
  static constinit std::once_flag once;
  std::call_once(once, [] {
    char const* const wanted = ::secure_getenv("NOPAL_PROFILE_OUT");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
    if (wanted == nullptr || *wanted == '\0') return;
    profile_unit const unit = unit_wanted();
    double const burden = burden_wanted();
    try {
      file_wanted = new std::string{std::strcmp(wanted, "-") == 0 ? wanted : absolute_name(wanted)};
      check_file();
      whole_process = new procedure;
      begun_in = process_number;
      char const* const what_if = ::secure_getenv("NOPAL_PROFILE_WHAT_IF");  // NOLINT(concurrency-mt-unsafe): it must not change
      begin_region(*whole_process, unit, burden, what_if != nullptr ? what_if : "");
      if (std::atexit(write) != 0) throw std::bad_alloc{};
    } catch (std::exception const& e) {
      die_in(nullptr, "NOPAL_PROFILE_OUT is set, and the profile cannot begin: %s; unset it", e.what());
    }
  });
}

}  // namespace core

// ---- A region of the program.

void profile::begin(profile_options const& options) { core::begin_region(region_, options.unit, options.burden, options.what_if); }

profile::~profile() {
  stop();
  core::forget_region(region_);
}

void profile::stop() noexcept {
  if (!std::exchange(stopped_, true)) core::end_region(region_);
}

profile_report profile::report() const {
  if (!stopped_) throw std::logic_error{"nopal: a profile was asked for its report before it was stopped; call stop() first"};
  return core::report_of(region_);
}

}  // namespace nopal
