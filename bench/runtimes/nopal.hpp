#pragma once

#include <cstdint>
#include <string>

#include <nopal/nopal.hpp>

namespace bench {

struct nopal_runtime {
  explicit nopal_runtime(unsigned workers) : pool{{.workers = workers}} {}

  static std::string version() { return "nopal " NOPAL_BENCH_VERSION; }
  [[nodiscard]] std::uint64_t steals() const { return pool.stats().steals; }

  nopal::pool pool;
};

}  // namespace bench
