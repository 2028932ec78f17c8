#include "latency.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "../process.hpp"
#include "../quantile.hpp"

namespace bench {
namespace {

double nanoseconds_per_spin() {
  constexpr std::size_t spins = 100'000;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t attempt = 0; attempt < 20; ++attempt) {
    const auto begin = std::chrono::steady_clock::now();
    const volatile std::uint64_t kept = job{.leaves = 1, .spins = spins}.leaf(attempt);
    static_cast<void>(kept);
    const auto end = std::chrono::steady_clock::now();
    best = std::min(best, std::chrono::duration<double, std::nano>(end - begin).count());
  }
  return best / spins;
}

// A job of this much work in all, on one core of this machine.
job sized(double microseconds, std::size_t leaves) {
  const double spins = microseconds * 1000 / static_cast<double>(leaves) / nanoseconds_per_spin();
  return {.leaves = leaves, .spins = static_cast<std::size_t>(spins)};
}

job job_named(const std::string& name) {
  if (name == "empty") return {};
  if (name == "20us") return sized(20, 16);
  if (name == "200us") return sized(200, 64);
  throw std::invalid_argument{"--job takes empty, 20us or 200us, not '" + name + "'"};
}

unsigned calls_for_a_second(const latency_options& opts) { return opts.rest_ms == 0 ? 2000 : std::max(10u, 1000 / opts.rest_ms); }

void print(const latency_options& opts, latency_record result) {
  std::ranges::sort(result.nanoseconds);
  nlohmann::ordered_json line;
  line["kernel"] = "latency";
  line["impl"] = result.impl;
  line["workers"] = opts.workers;
  line["job"] = opts.job;
  line["rest_ms"] = opts.rest_ms;
  line["calls"] = result.nanoseconds.size();
  line["median_ns"] = quantile(result.nanoseconds, 0.5);
  line["p90_ns"] = quantile(result.nanoseconds, 0.9);
  line["ok"] = result.ok;
  line["peak_rss_kib"] = peak_rss_kib();
  line["compiler"] = compiler();
  line["peer"] = result.peer;
  std::cout << line.dump() << std::endl;
}

}  // namespace

int start_latency(int argc, char** argv, const std::function<latency_record(const latency_options&, const job&)>& measure) {
  latency_options opts;
  CLI::App app{"nopal benchmark: the latency of small jobs"};
  app.add_option("--job", opts.job, "empty, 20us or 200us of work")->capture_default_str();
  app.add_option("--workers", opts.workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rest", opts.rest_ms, "milliseconds of sleep before each call")->capture_default_str();
  app.add_option("--calls", opts.calls, "timed calls (default: as many as take about a second)");
  CLI11_PARSE(app, argc, argv);

  try {
    if (opts.calls == 0) opts.calls = calls_for_a_second(opts);
    latency_record result = measure(opts, job_named(opts.job));
    const bool ok = result.ok;
    print(opts, std::move(result));
    return ok ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "latency: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace bench
