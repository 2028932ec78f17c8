#include "harness.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace bench {
namespace {

constexpr int wrong_answer = 1;
constexpr int failure = 2;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Runs `body` to its end on a thread of its own. Pages of that stack count only once they are touched.
void on_deep_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deep_stack);

  const auto entry = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, entry, &body);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error{error, std::generic_category(), "a thread with a stack of 1 GiB"};
  pthread_join(thread, nullptr);
}

}  // namespace

options options::smoke() const {
  options small = *this;
  small.size = "smoke";
  return small;
}

std::size_t pick(const options& opts, const named_sizes& sizes) {
  if (opts.size == "smoke") return sizes.smoke;
  if (opts.size == "default") return sizes.standard;
  if (opts.size == "paper") return sizes.paper;

  std::size_t number = 0;
  const char* const end = opts.size.data() + opts.size.size();
  const auto [stop, error] = std::from_chars(opts.size.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1)
    throw std::invalid_argument{"--size takes smoke, default, paper or a positive number, not '" + opts.size + "'"};
  return number;
}

scheduler_figures scheduler_figures::since(const scheduler_figures& before) const {
  scheduler_figures difference = *this;
  difference.steals -= before.steals;
  difference.steal_attempts -= before.steal_attempts;
  difference.pauses -= before.pauses;
  difference.suspensions -= before.suspensions;
  difference.unmaps -= before.unmaps;
  difference.purges -= before.purges;
  difference.sleeps -= before.sleeps;
  difference.pages_returned -= before.pages_returned;
  return difference;
}

simulated_figures simulated_figures::since(const simulated_figures& before) const {
  simulated_figures difference = *this;
  difference.seconds -= before.seconds;
  difference.working -= before.working;
  difference.searching -= before.searching;
  difference.waking -= before.waking;
  difference.asleep -= before.asleep;
  for (std::size_t k = 0; k < steals.size(); ++k) difference.steals[k] -= before.steals[k];
  difference.lost_turns -= before.lost_turns;
  return difference;
}

memory_watch::memory_watch() {
  peak_rss_kib();
  forget_peak();
  rss_before_ = rss_kib();
  faults_before_ = minor_page_faults();
}

void memory_watch::add_to(memory_figures& sum) const {
  sum.page_faults += minor_page_faults() - faults_before_;
  sum.rss_increase_kib = std::max(sum.rss_increase_kib, bench::peak_rss_kib() - rss_before_);
}

long memory_watch::peak_rss_kib() {
  static long highest = 0;
  return highest = std::max(highest, bench::peak_rss_kib());
}

sampler::sampler(std::function<std::uint64_t()> read)
    : thread_{[this, read = std::move(read)] {
        while (!stopped_.load(std::memory_order_relaxed)) {
          highest_ = std::max(highest_, read());
          std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
      }} {}

std::uint64_t sampler::stop() {
  stopped_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
  return highest_;
}

void print(const record& result) {
  nlohmann::ordered_json line;
  line["kernel"] = result.kernel;
  line["impl"] = result.impl;
  line["workers"] = result.workers;
  line["size"] = result.size;
  line["seconds"] = median(result.seconds);
  if (result.seconds.size() > 1) line["all_seconds"] = result.seconds;
  line["ok"] = result.ok;
  line["answer"] = result.answer;
  line["peak_rss_kib"] = memory_watch::peak_rss_kib();
  line["rss_before_kib"] = result.rss_before_kib;
  line["rss_increase_kib"] = result.memory.rss_increase_kib;
  line["page_faults"] = result.memory.page_faults;
  if (result.scheduler) {
    line["steals"] = result.scheduler->steals;
    line["steal_attempts"] = result.scheduler->steal_attempts;
    line["pauses"] = result.scheduler->pauses;
    line["suspensions"] = result.scheduler->suspensions;
    line["unmaps"] = result.scheduler->unmaps;
    line["purges"] = result.scheduler->purges;
    line["pages_returned"] = result.scheduler->pages_returned;
    line["stacks_peak"] = result.scheduler->stacks_peak;
    line["stack_pages"] = result.scheduler->stack_pages;
    line["stack_pages_peak"] = result.scheduler->stack_pages_peak;
    line["sleeps"] = result.scheduler->sleeps;
    line["steals_in_all"] = result.steals_in_all;
  }
  if (result.simulated) {
    line["simulated"] = {{"working", result.simulated->working}, {"searching", result.simulated->searching},
                         {"waking", result.simulated->waking},   {"asleep", result.simulated->asleep},
                         {"steals", result.simulated->steals},   {"lost_turns", result.simulated->lost_turns}};
  }
  if (result.fork_depth) line["fork_depth"] = *result.fork_depth;
  if (result.stack_pages_sampled) line["stack_pages_sampled"] = *result.stack_pages_sampled;
  if (result.fibers) line["fibers"] = *result.fibers;
  for (const figure& one : result.figures) line[one.name] = one.value;
  line["compiler"] = compiler();
  line["peer"] = result.peer;
  std::cout << line.dump() << std::endl;
}

int start(int argc, char** argv, const std::string& title, bool is_nopal, const std::function<bool(const options&)>& body) {
  options opts;
  CLI::App app{"nopal benchmark: " + title};
  app.add_option("--size", opts.size, "smoke, default, paper, or a number")->capture_default_str();
  app.add_option("--data", opts.data, "what to sort: ints, doubles, strings, pairs, sorted, reversed, equal, sawtooth, few")
      ->capture_default_str();
  app.add_option("--shape", opts.shape, "flows: which graph, pipeline, tasks or loop")->capture_default_str();
  app.add_option("--tree", opts.tree, "which UTS tree: T1, T3, T1L, T3L, T1XXL, T3XXL")->capture_default_str();
  app.add_option("--workers", opts.workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--repeat", opts.repeat, "timed runs in this process")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--sample", opts.sample, "also how deep forks nest, and nopal's stack pages as it runs");
  app.add_option("--depth", opts.depth, "fibers_nqueens: rows whose queens are placed before a fiber is made")->capture_default_str();
  app.add_option("--batch", opts.batch, "fibers_empty, fibers_park: how many fibers there are at a time (default: all)");
  app.add_flag("--imbalanced", opts.imbalanced, "fibers_loops: a tenth of the fibers loop a hundred times as long as the others");
  if (is_nopal) {
    app.add_flag("!--no-steal", opts.steal, "every fiber and task stays on the worker where it began");
    app.add_option("--idle", opts.idle, "what a worker does that finds nothing: lazy, busy")
        ->check(CLI::IsMember({"lazy", "busy"}))
        ->capture_default_str();
    app.add_option("--victims", opts.victims, "which worker a thief tries: eq6, uniform, scan")
        ->check(CLI::IsMember({"eq6", "uniform", "scan"}))
        ->capture_default_str();
    app.add_flag("!--no-back-off", opts.back_off, "thieves that find nothing search again at once");
    app.add_option("--simulate", opts.simulate, "another machine, as 128 or 2x56: the times are those that its workers would take");
    // A flag bound to an std::optional<bool> returns false if it is not given.
    app.add_flag_function(
        "--pin,!--no-pin", [&](std::int64_t n) { opts.pin = n > 0; },
        "whether each worker keeps to a CPU of its own; neither: as the pool decides");
    app.add_option("--resume", opts.resume, "which thread resumes a suspended native stack: anywhere, home")
        ->check(CLI::IsMember({"anywhere", "home"}))
        ->capture_default_str();
    app.add_option("--kept-pages", opts.kept_pages, "how many topmost pages of a stack stay when it waits at a join")
        ->capture_default_str();
    app.add_option("--reclaim", opts.reclaim, "what becomes of a suspended stack's unused pages: dontneed, free, remap, none")
        ->check(CLI::IsMember({"dontneed", "free", "remap", "none"}))
        ->capture_default_str();
  }
  CLI11_PARSE(app, argc, argv);

  int status = failure;
  try {
    on_deep_stack([&] {
      try {
        status = body(opts) ? 0 : wrong_answer;
      } catch (const std::exception& error) {
        std::cerr << title << ": " << error.what() << '\n';
      }
    });
  } catch (const std::exception& error) {
    std::cerr << title << ": " << error.what() << '\n';
  }
  return status;
}

}  // namespace bench
