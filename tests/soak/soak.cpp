// nopal_soak: random programs, for any time. See README.md.

#include <CLI/CLI.hpp>

#include <nopal/stop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "stand.hpp"
#include "timers.hpp"
#include "watchdog.hpp"

namespace {

using namespace soak;

class soaking {
 public:
  explicit soaking(arguments const& a) : arguments_{a}, journal_{a.log}, watchdog_{arguments_, journal_} {}

  int run() {
    make_stop_regions(4000);
    std::thread progress{[this] { report_progress(); }};
    if (!arguments_.tape.empty()) {
      auto const t = from_hex(arguments_.tape);
      if (!t) throw std::runtime_error{"--tape wants hexadecimal digits"};
      batch(*t, ~std::uint64_t{0}, [&] { return *t; });
    } else {
      for (std::uint64_t k = 0; go_on(); ++k) {
        tape const head = random_tape(test::mix(arguments_.seed) + k, settings::bytes);
        std::atomic<std::uint64_t> turn{0};
        batch(head, 200, [&] { return some_tape(head, test::mix(test::mix(arguments_.seed + k) + turn++)); });
      }
    }
    ended_ = true;
    progress.join();
    journal_.line(summary());
    return failed_ ? 1 : 0;
  }

 private:
  // Their table grows to the most that were used at once, and stays.
  static void make_stop_regions(int n) {
    if (n > 0) nopal::with_stop({}, [n] { make_stop_regions(n - 1); });
  }

  bool go_on() const {
    if (failed_) return false;
    if (arguments_.programs != 0 && started_ >= arguments_.programs) return false;
    return arguments_.minutes == 0 || clock_type::now() - begin_ < arguments_.minutes * 1min;
  }

  static tape some_tape(tape const& head, std::uint64_t seed) {
    constexpr std::array<std::size_t, 4> sizes{40, 200, 600, 1600};
    std::size_t const most = sizes[seed % 4] / (test::sanitized ? 2 : 1);
    tape t = random_tape(seed, 8 + test::mix(seed) % most);
    t.insert(t.begin(), head.begin(), head.end());
    return t;
  }
  static program made_of(tape const& t, settings const& how, bool faulty) {
    std::size_t const head = std::min(t.size(), settings::bytes);
    limits most = how.most;
    most.faults = faulty;
    return {t.data() + head, t.size() - head, most};
  }
  settings settings_of(tape const& t) const {
    settings s{t.data(), t.size(), arguments_.workers, bits_of(arguments_.with)};
    if (arguments_.faults != 0) s.callers = 1;
    return s;
  }
  /// The `turn`th trial of a tape.
  std::string try_out(stand& where, tape const& t, std::uint64_t turn, totals& all) {
    std::uint64_t const draw = test::mix(turn ^ test::mix(arguments_.seed));
    bool const faulty = static_cast<double>(draw % 1000) < arguments_.faults * 1000;
    constexpr std::array<std::uint64_t, 4> rarities{5, 50, 500, 5000};
    program p = made_of(t, where.how(), faulty);
    watchdog::lead const watched{watchdog_, &where, t};
    return where.try_out(p, all, faulty ? rarities[draw / 1000 % 4] : 0, draw);
  }

  /// Runs so many programs on one pair of pools. A tape that fails ends the run.
  template <class NextTape>
  void batch(tape const& head, std::uint64_t programs, NextTape const& next_tape) {
    settings const how = settings_of(head);
    tape failing;
    std::string wrong;
    std::int64_t const blocks = faults::live_blocks();
    {
      std::optional<watchdog::lead> end_of_pools;
      stand where{how};
      std::mutex mutex;
      auto const complain = [&](tape const& t, std::string const& what) {
        std::lock_guard const guard{mutex};
        if (wrong.empty()) {
          wrong = what;
          failing = t;
          say(t, what);
        }
        failed_ = true;
      };
      std::atomic<std::uint64_t> turn{0};
      auto const call = [&] {
        while (turn++ < programs && go_on()) {
          tape const t = next_tape();
          if (std::string const w = try_out(where, t, ++started_, totals_); !w.empty()) complain(t, w);
        }
      };
      std::atomic<bool> ended{false};
      std::thread onlooker{[&] {
        faults::spared const mine;
        while (!ended) {
          if (std::string const w = where.look_on(); !w.empty()) complain(head, w);
          std::this_thread::sleep_for(2ms);
        }
      }};
      std::vector<std::thread> others;
      for (unsigned k = 1; k < how.callers; ++k) others.emplace_back(call);
      call();
      for (std::thread& t : others) t.join();
      ended = true;
      onlooker.join();
      if (std::string const w = where.look_behind(); !w.empty()) complain(head, w);
      where.add_to(totals_);
      end_of_pools.emplace(watchdog_, nullptr, head);
    }
    if (!wrong.empty()) return shorten(failing);
    // What the default pool keeps is not counted, nor what is made once. The other threads sometimes need memory.
    if (++batches_ == 1 || how.most.default_pool) return;
    for (int k = 0; faults::live_blocks() > blocks; ++k) {
      if (k == 1000) {
        failed_ = true;
        return say(head, std::to_string(faults::live_blocks() - blocks) + " blocks of memory are left behind by some programs");
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  void say(tape const& t, std::string const& wrong) {
    journal_.line("WRONG: " + wrong + "\n  on " + settings_of(t).text() + "\n  replay: " + replay(arguments_, t));
  }
  void shorten(tape const& t) {
    tape const least = minimised(t);
    journal_.line(least.size() == t.size() ? "  no shorter tape was found that goes wrong"
                                           : "  shorter, also wrong: " + replay(arguments_, least));
  }

  /// True if it fails within a second, with nothing else on its pools.
  bool goes_wrong(tape const& t) {
    stand where{settings_of(t)};
    totals unused;
    auto const until = clock_type::now() + 1s;
    for (std::uint64_t k = 0; clock_type::now() < until; ++k) {
      if (!try_out(where, t, k, unused).empty()) return true;
    }
    return false;
  }
  /// Leaves out all that can be left out, for 30 seconds.
  tape minimised(tape t) {
    auto const until = clock_type::now() + 30s;
    if (!goes_wrong(t)) return t;
    for (std::size_t piece = t.size() / 2; piece > 0; piece /= 2) {
      for (std::size_t at = settings::bytes; at < t.size() && clock_type::now() < until;) {
        tape shorter = t;
        auto const from = shorter.begin() + static_cast<std::ptrdiff_t>(at);
        shorter.erase(from, from + static_cast<std::ptrdiff_t>(std::min(piece, t.size() - at)));
        if (goes_wrong(shorter)) {
          t = std::move(shorter);
        } else {
          at += piece;
        }
      }
    }
    return t;
  }

  void report_progress() {
    faults::spared const mine;
    auto next = begin_ + 10s;
    while (!ended_) {
      std::this_thread::sleep_for(50ms);
      if (clock_type::now() < next) continue;
      next += 10s;
      auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_type::now() - begin_).count();
      journal_.line(std::to_string(seconds) + " s: " + std::to_string(totals_.programs) + " programs, " + std::to_string(totals_.nodes) +
                    " nodes, " + std::to_string(totals_.steals) + " steals");
    }
  }

  std::string summary() const {
    std::string s = "seed " + std::to_string(arguments_.seed) + ": " + std::to_string(totals_.programs) + " programs, " +
                    std::to_string(totals_.nodes) + " nodes, " + std::to_string(totals_.steals) + " steals, " +
                    std::to_string(totals_.suspensions) + " suspensions, " + std::to_string(totals_.fibers) + " fibers, " +
                    std::to_string(totals_.sleeps) + " sleeps, " + std::to_string(totals_.thrown) + " programs ended by an exception, " +
                    std::to_string(totals_.faults) + " faults, " + std::to_string(totals_.out_of_memory) + " programs out of memory, " +
                    std::to_string(totals_.serial_forks) + " forks made serial, " + std::to_string(timers::taken()) + " signals, " +
                    std::to_string(failed_ ? 1 : 0) + " wrong\nchildren run by";
    for (std::size_t k = 0; k < ways; ++k) s += std::string{k == 0 ? " " : ", "} + way_names[k] + ' ' + std::to_string(totals_.forks[k]);
    return s;
  }

  arguments const& arguments_;
  journal journal_;
  watchdog watchdog_;
  totals totals_;
  clock_type::time_point const begin_ = clock_type::now();
  std::uint64_t batches_ = 0;
  std::atomic<std::uint64_t> started_{0};
  std::atomic<bool> failed_{false}, ended_{false};
};

}  // namespace

#if defined(NOPAL_SOAK_FAULTS) && defined(NOPAL_TEST_SANITIZED)
// The injector makes a backtrace, which loads a library; LeakSanitizer does not find what the loader keeps of it.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:_dl_map_object_deps\n"; }
#endif

int main(int argc, char** argv) {
  arguments a;
  CLI::App app{"Random programs on nopal, compared with their serial runs. Ends with 1 at the first that differs."};
  app.add_option("--minutes", a.minutes, "how long; 0: no limit");
  app.add_option("--programs", a.programs, "how many; 0: no limit");
  app.add_option("--seed", a.seed, "of the programs")->capture_default_str();
  app.add_option("--workers", a.workers, "workers of the pools")->delimiter(',')->check(CLI::Range(1u, 1024u))->capture_default_str();
  app.add_option("--faults", a.faults, "the part of the programs during which memory is refused now and then")->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--with", a.with,
         "what the programs have beside nopal, where it was found: stays (home pools and nopal::stay), tbb, openmp, rounding (modes),\n"
         "processes, signals (at 1 kHz), or none")
      ->delimiter(',')
      ->check(CLI::IsMember({"stays", "tbb", "openmp", "rounding", "processes", "signals", "none"}))
      ->capture_default_str();
  app.add_option("--log", a.log, "a file to which all lines are added");
  app.add_option("--tape", a.tape, "only the program of this tape, in hexadecimal digits");
  CLI11_PARSE(app, argc, argv);
  if (a.faults != 0 && !faults::available) {
    std::cerr << "nopal_soak: built without the injector of faults\n";
    return 2;
  }
  if (a.minutes == 0 && a.programs == 0) a.minutes = 1;
  prepare_to_die();
  ::setenv("OMP_WAIT_POLICY", "passive", 0);  // more threads than CPUs: who has nothing to do sleeps
  try {
    std::optional<timers> ticking;
    if ((bits_of(a.with) & bit_of(company::signals)) != 0) ticking.emplace();
    return soaking{a}.run();
  } catch (std::exception const& e) {
    std::cerr << "nopal_soak: " << e.what() << '\n';
    return 2;
  }
}
