// Few elements that take long, on the real cores: each algorithm by nopal, by oneTBB and by the standard library's parallel mode, in turn.
// A line of JSON for each algorithm and number of elements. By hand: ../README.md.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <nopal/nopal.hpp>

#include "../process.hpp"
#include "element.hpp"
#include "peers.hpp"
#include "subjects.hpp"

namespace {

struct options {
  std::vector<std::string> only;
  std::vector<std::size_t> sizes = {4, 16, 64, 1024};
  double milliseconds = 1;
  unsigned workers = 2;
  unsigned rounds = 3;
};

/// Seconds of all rounds, by library. Each round has another input, since the number of comparisons depends on it.
using times = std::map<std::string, double>;

bool compare(const scale::subject& of, std::size_t n, const options& opts, nopal::pool& pool) {
  const auto parallel = scale::parallel_mode();
  const auto tbb = scale::tbb();
  times taken;
  bool ok = true;
  for (unsigned k = 0; k < opts.rounds; ++k) {
    const scale::input in{n, k};
    scale::output expected = of.before(in);
    of.serial(in, expected);
    of.settle(expected);
    const auto once = [&](const std::string& who, const auto& run) {
      scale::output found = of.before(in);
      const auto begin = std::chrono::steady_clock::now();
      run(found);
      taken[who] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / opts.rounds;
      of.settle(found);
      if (found != expected) std::cerr << of.name << " of " << n << " by " << who << " is wrong\n";
      ok = ok && found == expected;
    };
    once("nopal", [&](scale::output& found) { pool.run([&] { of.ours(in, found); }); });
    if (const auto way = parallel.find(of.name); way != parallel.end())
      once("parallel_mode", [&](scale::output& found) { way->second(in, found); });
    if (const auto way = tbb.find(of.name); way != tbb.end()) once("tbb", [&](scale::output& found) { way->second(in, found); });
  }
  nlohmann::ordered_json line;
  line["kernel"] = "dear";
  line["algorithm"] = of.name;
  line["size"] = std::to_string(n);
  line["element_ns"] = opts.milliseconds * 1e6;
  line["workers"] = opts.workers;
  double best = 0;
  for (const auto& [who, seconds] : taken) {
    line[who] = seconds;
    if (who != "nopal" && (best == 0 || seconds < best)) best = seconds;
  }
  line["seconds"] = taken["nopal"];
  if (best > 0) line["best_peer_ratio"] = best / taken["nopal"];
  line["ok"] = ok;
  line["compiler"] = bench::compiler();
  std::cout << line.dump() << std::endl;
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  options opts;
  CLI::App app{"nopal benchmark: algorithms on few elements that take long"};
  app.add_option("--algorithm", opts.only, "which (default: all)")->delimiter(',');
  app.add_option("--sizes", opts.sizes, "how many elements")->delimiter(',')->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--element", opts.milliseconds, "milliseconds that each takes")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--workers", opts.workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rounds", opts.rounds, "how often each is run, on another input each time; the mean is told")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    scale::element::choose(opts.milliseconds * 1e6, false);
    const oneapi::tbb::global_control limit{oneapi::tbb::global_control::max_allowed_parallelism, opts.workers};
    nopal::pool pool{{.workers = opts.workers}};
    bool ok = true;
    for (const scale::subject& of : scale::subjects(true)) {
      if (!opts.only.empty() && std::ranges::find(opts.only, of.name) == opts.only.end()) continue;
      for (const std::size_t n : opts.sizes) ok = compare(of, n, opts, pool) && ok;
    }
    return ok ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "dear: " << e.what() << '\n';
    return 2;
  }
}
