#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nopal/nopal.hpp>

#include "../harness.hpp"

namespace bench {

struct nopal_runtime {
  explicit nopal_runtime(unsigned workers) : pool{{.workers = workers}} {}
  explicit nopal_runtime(const options& opts)
      : pool{{.workers = opts.workers, .pin = opts.pin, .reclaim = reclaim_of(opts),
              .resume = opts.resume == "home" ? nopal::resume::home : nopal::resume::anywhere, .steal = opts.steal}} {}

  static std::string version() { return "nopal " NOPAL_BENCH_VERSION; }

  static nopal::reclaim reclaim_of(const options& opts) {
    static const std::map<std::string, nopal::reclaim> ways = {{"dontneed", nopal::reclaim::dontneed},
                                                               {"free", nopal::reclaim::free},
                                                               {"remap", nopal::reclaim::remap},
                                                               {"none", nopal::reclaim::none}};
    return ways.at(opts.reclaim);
  }

  [[nodiscard]] scheduler_figures figures() const {
    const nopal::stats stats = pool.stats();
    return {.steals = stats.steals,
            .steal_attempts = stats.steal_attempts,
            .suspensions = stats.suspensions,
            .unmaps = stats.unmaps,
            .pages_returned = stats.pages_returned,
            .stacks_peak = stats.stacks_peak,
            .stack_pages = stats.stack_pages};
  }
  [[nodiscard]] std::uint64_t stack_pages() const { return pool.stats().stack_pages; }

  nopal::pool pool;
};

}  // namespace bench
