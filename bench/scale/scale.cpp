// How far each algorithm scales: one of them, on so many elements that take so long each, on simulated machines, beside the standard
// library's serial one and beside the most that a greedy scheduler needs. One line of JSON. By hand: ../README.md.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <nopal/nopal.hpp>
#include <nopal/simulation.hpp>

#include "../process.hpp"
#include "element.hpp"
#include "subjects.hpp"

namespace {

struct options {
  std::string algorithm = "transform_reduce";
  std::size_t n = 1024;
  double nanoseconds = 0;
  std::string machine = "16";
  unsigned runs = 4;
  bool measured = false;
};

/// Of this thread's CPU time: what other programs do does not count.
double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds(std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); }

scale::subject find(const options& opts) {
  std::string known;
  for (scale::subject& one : scale::subjects(opts.nanoseconds > 0)) {
    if (one.name == opts.algorithm) return std::move(one);
    known += known.empty() ? one.name : ", " + one.name;
  }
  throw std::invalid_argument{"--algorithm is '" + opts.algorithm + "'; it can be " + known};
}

/// Fills in the result, and returns its time: the least of some runs, by the thread's CPU time or as given.
double serial_seconds(const scale::subject& of, const scale::input& in, scale::output& result, const options& opts) {
  double least = 0;
  for (unsigned k = 0; k < (scale::element::is_given() ? 1 : opts.runs); ++k) {
    result = of.before(in);
    scale::element::calls = 0;
    const double before = cpu_seconds();
    of.serial(in, result);
    const double taken =
        scale::element::is_given() ? static_cast<double>(scale::element::calls) * opts.nanoseconds * 1e-9 : cpu_seconds() - before;
    least = k == 0 ? taken : std::min(least, taken);
  }
  of.settle(result);
  return least;
}

bool measure(const options& opts) {
  scale::element::choose(opts.nanoseconds, !opts.measured);
  ::setenv("NOPAL_SIMULATION", scale::element::is_given() ? "clock=given,report=/dev/null" : "report=/dev/null", 1);
  const scale::subject of = find(opts);
  const scale::input in{opts.n};
  scale::output expected;
  const double serial = serial_seconds(of, in, expected, opts);

  nopal::pool_options how;
  how.simulate = opts.machine;
  nopal::pool pool{how};
  bool ok = true;
  std::vector<nopal::simulation_report> runs;
  for (unsigned k = 0; k < opts.runs; ++k) {
    scale::output found = of.before(in);
    const nopal::simulation_report before = nopal::simulated(pool).value();
    pool.run([&] { of.ours(in, found); });
    nopal::simulation_report run = nopal::simulated(pool).value();
    run.elapsed -= before.elapsed;
    run.working -= before.working;
    run.disturbed -= before.disturbed;
    run.lost_turns -= before.lost_turns;
    runs.push_back(run);
    of.settle(found);
    ok = found == expected && ok;
  }
  const nopal::simulation_report& best = *std::ranges::min_element(runs, {}, &nopal::simulation_report::elapsed);
  const double element = opts.nanoseconds > 0 ? opts.nanoseconds * 1e-9 : serial / static_cast<double>(opts.n);
  const double span = of.span(static_cast<double>(opts.n)) * element;

  nlohmann::ordered_json line;
  line["kernel"] = "scale";
  line["algorithm"] = of.name;
  line["size"] = std::to_string(opts.n);
  line["element_ns"] = opts.nanoseconds;
  line["machine"] = opts.machine;
  line["workers"] = pool.workers();
  line["clock"] = scale::element::is_given() ? "given" : "measured";
  line["seconds"] = seconds(best.elapsed);
  line["serial"] = serial;
  line["greedy"] = of.work * serial / static_cast<double>(pool.workers()) + span;
  line["working"] = seconds(best.working);
  line["disturbed"] = seconds(best.disturbed);
  line["lost_turns"] = best.lost_turns;
  line["ok"] = ok;
  line["compiler"] = bench::compiler();
  line["peer"] = "nopal " NOPAL_BENCH_VERSION;
  std::cout << line.dump() << std::endl;
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  options opts;
  CLI::App app{"nopal benchmark: how far an algorithm scales on simulated machines"};
  app.add_option("--algorithm", opts.algorithm, "which; one that there is not has them listed")->capture_default_str();
  app.add_option("--size", opts.n, "how many elements")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--element", opts.nanoseconds, "nanoseconds that each takes; 0: next to nothing")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--machine", opts.machine, "the simulated machine, as 16 or 2x56")->capture_default_str();
  app.add_option("--runs", opts.runs, "how often; the best run counts")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--measured", opts.measured, "elements really work for as long as they take, instead of saying so");
  CLI11_PARSE(app, argc, argv);
  try {
    return measure(opts) ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "scale: " << e.what() << '\n';
    return 2;
  }
}
