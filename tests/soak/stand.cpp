#include "stand.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "../scale.hpp"

namespace soak {

namespace {

/// What becomes true a moment after the program has ended; it is an error if it never does.
template <class F>
bool soon(F f) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!f()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string shown(outcome const& o) {
  return o.thrown != 0 ? "the exception " + std::to_string(o.thrown) : "the value " + std::to_string(o.value);
}

/// If memory was short, what must run may not have run.
std::string unlike_serial(program const& p, bool all) {
  for (auto const& n : p.nodes()) {
    int const runs = n->runs;
    bool const right = n->rule == node::run_rule::must && all ? runs == 1 : n->rule != node::run_rule::never ? runs <= 1 : runs == 0;
    if (right) continue;
    return "node " + std::to_string(n->id) + ", " + name(n->how) + ", has run " + std::to_string(runs) + " times; it " +
           (n->rule == node::run_rule::must  ? "must run"
            : n->rule == node::run_rule::may ? "may run once"
                                             : "must not run");
  }
  return {};
}

}  // namespace

// Not std::thread::hardware_concurrency, which also counts CPUs that this process may not use.
static unsigned usable_cpus() {
  cpu_set_t usable;
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? static_cast<unsigned>(CPU_COUNT(&usable)) : 1;
}

settings::settings(std::uint8_t const* data, std::size_t size, std::vector<unsigned> const& workers, unsigned with) {
  reader in{data, std::min(size, bytes)};
  unsigned const first = in.next(), second = in.next(), third = in.next();
  own.workers = workers[first % workers.size()];
  own.idle = (first & 64) != 0 ? nopal::idle::busy : nopal::idle::lazy;
  own.seed = first;
  own.reclaim = static_cast<nopal::reclaim>(second % 4);
  // A thread that waits in another runtime runs what it finds there, loop upon loop: nopal does not bound that depth.
  bool const others = (with & (bit_of(company::tbb) | bit_of(company::openmp))) != 0;
  bool const small = (second & 12) == 4 && !others;
  if (small) own.stack_size = std::size_t{test::sanitized ? 256 : 64} << 10;
  own.steal = (second & 0x70) != 0x10;
  own.pin = (second & 0x70) == 0x20 && own.workers <= usable_cpus();
  other.workers = 1 + third % 2;
  other.reclaim = static_cast<nopal::reclaim>(third / 2 % 4);
  other.pin = false;
  most.with = with;
  if ((with & bit_of(company::stays)) != 0) {
    own.resume = (third & 0x18) == 0x18 ? nopal::resume::home : nopal::resume::anywhere;
    other.resume = (third & 0x18) == 0x08 ? nopal::resume::home : nopal::resume::anywhere;
  }
  callers = 1 + third / 32 % 4 % 3;
  most.default_pool = (third & 0x80) != 0;
  most.nodes = test::sanitized ? 150 : 400;
  most.depth = small ? 8 : 20;
}

std::string settings::text() const {
  constexpr std::array<char const*, 4> reclaims{"dontneed", "free", "remap", "none"};
  return std::to_string(own.workers) + (own.idle == nopal::idle::busy ? " busy" : "") + " workers, stacks of " +
         std::to_string(own.stack_size >> 10) + " KiB, reclaim " + reclaims[static_cast<std::size_t>(own.reclaim)] +
         (own.steal ? "" : ", no stealing") + (own.pin.value_or(false) ? ", pinned" : "") +
         (own.resume == nopal::resume::home ? ", at home" : "") + "; another pool of " + std::to_string(other.workers) +
         (other.resume == nopal::resume::home ? ", at home; " : "; ") + std::to_string(callers) + (callers == 1 ? " caller" : " callers");
}

stand::stand(settings const& s) : how_{s}, own_{s.own}, other_{s.other} {}

std::string stand::try_out(program& p, totals& all, std::uint64_t one_in, std::uint64_t seed) {
  p.reset();
  site s{own_, one_in != 0 ? own_ : other_, how_.most.default_pool};  // a worker that is blocked is missed by the other pool
  outcome got;
  bool no_memory = false;
  std::string wrong;
  try {
    faults::armed const failing{one_in, seed};
    got.value = run(s, p);
  } catch (numbered const& e) {
    got.thrown = e.number;
  } catch (std::bad_alloc const&) {
    no_memory = true;
  } catch (std::system_error const&) {
    no_memory = true;  // a thread that could not be made
  }
  outcome expected = p.root().expected;
  if (expected.thrown != 0) expected.value = 0;
  if (!no_memory && got != expected) wrong = shown(got) + " came out, and not " + shown(expected);
  std::uint64_t const faults = one_in != 0 ? faults::failures() : 0;
  if (no_memory && faults == 0) wrong = "out of memory";
  if (std::string const c = s.complaint(); !c.empty()) wrong += (wrong.empty() ? "" : "; ") + c;
  if (wrong.empty()) wrong = unlike_serial(p, faults == 0);
  if (!soon([&] { return s.alive == 0; })) wrong += (wrong.empty() ? "" : "; ") + std::to_string(s.alive) + " objects are left behind";
  if (how_.callers == 1 && wrong.empty()) wrong = look_behind();

  ++all.programs;
  all.nodes += p.nodes().size();
  all.thrown += got.thrown != 0;
  all.out_of_memory += no_memory;
  all.faults += faults;
  for (std::size_t k = 0; k < ways; ++k) all.forks[k] += s.forks[k];
  return wrong;
}

std::string stand::look_behind() {
  for (nopal::pool* const pool : {&own_, &other_}) {
    nopal::stats stats;
    if (!soon([&] {
          stats = pool->stats();
          return stats.fibers_spawned == stats.fibers_finished;
        })) {
      return std::to_string(stats.fibers_spawned) + " fibers were spawned, and " + std::to_string(stats.fibers_finished) + " have finished";
    }
    std::string report;
    if (!soon([&] {
          report = pool->report();
          return report == "nothing waits\n";
        })) {
      return "after the program's end " + report;
    }
  }
  return {};
}

std::string stand::look_on() {
  auto const now = own_.stats();
  nopal::worker_stats sum;
  for (auto const& w : now.per_worker) sum += w;
  std::string wrong;
  auto const falls = [&](char const* what, std::uint64_t nopal::worker_stats::* which) {
    if (now.*which < last_seen_.*which) wrong = std::string{"stats: fewer "} + what + " than before";
  };
  falls("steals", &nopal::worker_stats::steals);
  falls("steal attempts", &nopal::worker_stats::steal_attempts);
  falls("suspensions", &nopal::worker_stats::suspensions);
  falls("fibers", &nopal::worker_stats::fibers_spawned);
  falls("sleeps", &nopal::worker_stats::sleeps);
  falls("stacks at their peak", &nopal::worker_stats::stacks_peak);
  if (now.stacks_live > now.stacks_peak) wrong = "stats: more stacks than at their peak";
  if (now.steals != sum.steals) wrong = "stats: the sum is not that of the workers";
  if (now.per_worker.size() != how_.own.workers) wrong = "stats: not of every worker";
  if (own_.report().empty()) wrong = "an empty report";
  last_seen_ = now;
  return wrong;
}

void stand::add_to(totals& all) {
  for (nopal::pool* const pool : {&own_, &other_}) {
    auto const s = pool->stats();
    all.steals += s.steals;
    all.suspensions += s.suspensions;
    all.fibers += s.fibers_spawned;
    all.serial_forks += s.serial_forks;
    all.sleeps += s.sleeps;
  }
}

std::string stand::report() const { return "the first pool: " + own_.report() + "the other pool: " + other_.report(); }

}  // namespace soak
