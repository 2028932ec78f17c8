#include "loops.hpp"

#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "../process.hpp"
#include "../quantile.hpp"

namespace bench {
namespace {

void print(const loops_options& opts, loops_record result) {
  std::ranges::sort(result.nanoseconds);
  nlohmann::ordered_json line;
  line["kernel"] = "loops";
  line["impl"] = result.impl;
  line["workers"] = opts.workers;
  line["shape"] = opts.shape;
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

int start_loops(int argc, char** argv, const std::function<loops_record(const loops_options&)>& measure) {
  loops_options opts;
  CLI::App app{"nopal benchmark: loops"};
  app.add_option("--shape", opts.shape, "stream, hash, triangle, nested, turns, or a number of iterations")->capture_default_str();
  app.add_option("--workers", opts.workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rest", opts.rest_ms, "milliseconds of sleep before each call")->capture_default_str();
  app.add_option("--seconds", opts.seconds, "how long calls are timed")->capture_default_str();
  app.add_flag("--smoke", opts.smoke, "the smallest size, and three calls");
  CLI11_PARSE(app, argc, argv);

  try {
    loops_record result = measure(opts);
    const bool ok = result.ok;
    print(opts, std::move(result));
    return ok ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "loops: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace bench
