#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <nopal/nopal.hpp>
#include <nopal/simulation.hpp>

#include "../harness.hpp"

namespace bench {

struct nopal_runtime {
  explicit nopal_runtime(unsigned workers) : pool{{.workers = workers}} {}
  explicit nopal_runtime(const options& opts, std::size_t stack_size = nopal::pool_options{}.stack_size)
      : pool{{.workers = opts.workers,
              .idle = opts.idle == "busy" ? nopal::idle::busy : nopal::idle::lazy,
              .pin = opts.pin,
              .stack_size = stack_size,
              .reclaim = reclaim_of(opts),
              .resume = opts.resume == "home" ? nopal::resume::home : nopal::resume::anywhere,
              .steal = opts.steal,
              .victims = victims_of(opts),
              .back_off = opts.back_off,
              .simulate = opts.simulate,
              .experimental = {.pages_kept_at_join = opts.kept_pages}}} {}

  static std::string version() { return "nopal " NOPAL_BENCH_VERSION; }

  template <class F, class... A>
  NOPAL_INLINE decltype(auto) run(F&& f, A&&... a) {
    return pool.run(std::forward<F>(f), std::forward<A>(a)...);
  }

  static nopal::reclaim reclaim_of(const options& opts) {
    static const std::map<std::string, nopal::reclaim> ways = {{"dontneed", nopal::reclaim::dontneed},
                                                               {"free", nopal::reclaim::free},
                                                               {"remap", nopal::reclaim::remap},
                                                               {"none", nopal::reclaim::none}};
    return ways.at(opts.reclaim);
  }

  static nopal::victims victims_of(const options& opts) {
    if (opts.victims == "scan") return nopal::victims::scan;
    return opts.victims == "uniform" ? nopal::victims::uniform : nopal::victims::by_distance;
  }

  [[nodiscard]] scheduler_figures figures() const {
    const nopal::stats stats = pool.stats();
    return {.steals = stats.steals,
            .steal_attempts = stats.steal_attempts,
            .pauses = stats.pauses,
            .suspensions = stats.suspensions,
            .unmaps = stats.unmaps - stats.purges,
            .purges = stats.purges,
            .pages_returned = stats.pages_returned,
            .sleeps = stats.sleeps,
            .stacks_peak = stats.stacks_peak,
            .stack_pages = stats.stack_pages,
            .stack_pages_peak = stats.stack_pages_peak};
  }
  [[nodiscard]] std::uint64_t stack_pages() const { return pool.stats().stack_pages; }

  // Under NOPAL_SCHEDULE=simulate.
  [[nodiscard]] std::optional<simulated_figures> simulated() const {
    const std::optional<nopal::simulation_report> all = nopal::simulated(pool);
    if (!all) return std::nullopt;
    const auto seconds = [](std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); };
    return simulated_figures{.seconds = seconds(all->elapsed),
                             .working = seconds(all->working),
                             .searching = seconds(all->searching),
                             .waking = seconds(all->waking),
                             .asleep = seconds(all->asleep),
                             .steals = all->steals,
                             .lost_turns = all->lost_turns};
  }

  nopal::pool pool;
};
using runtime = nopal_runtime;

// For programs that recurse into the deepest tree on native stacks.
struct deep_nopal_runtime : nopal_runtime {
  explicit deep_nopal_runtime(const options& opts) : nopal_runtime{opts, deep_stack} {}
};

}  // namespace bench
