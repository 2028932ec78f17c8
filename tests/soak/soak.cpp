// nopal_soak: random programs for as long as one likes. See README.md.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "stand.hpp"

#ifdef NOPAL_TEST_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using namespace soak;

struct arguments {
  double minutes = 0;
  std::uint64_t programs = 0;
  std::uint64_t seed = 1;
  std::vector<unsigned> workers{1, 2, 3, 8};
  double faults = 0;
  std::string log, tape;
};

/// To stdout, and to a file.
class journal {
 public:
  explicit journal(std::string const& file) {
    if (!file.empty()) file_.open(file, std::ios::app);
    if (!file.empty() && !file_) throw std::runtime_error{"cannot write " + file};
  }
  void line(std::string const& text) {
    std::lock_guard const guard{mutex_};
    std::cout << text << '\n' << std::flush;
    if (file_.is_open()) file_ << text << '\n' << std::flush;
  }

 private:
  std::mutex mutex_;
  std::ofstream file_;
};

std::string replay(arguments const& a, tape const& t) {
  std::string workers;
  for (unsigned const w : a.workers) workers += (workers.empty() ? "" : ",") + std::to_string(w);
  return "nopal_soak --programs 10000 --workers " + workers + (a.faults != 0 ? " --faults 1" : "") + " --tape " + hex(t);
}

/// What the callers are about to do: said where the process dies, and where nothing ends for too long.
class watchdog {
 public:
  static constexpr auto patience = 30s;

  watchdog(arguments const& a, journal& j) : arguments_{a}, journal_{j}, thread_{[this] { watch(); }} {}
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog() {
    stop_ = true;
    thread_.join();
  }

  class lead {
   public:
    lead(watchdog& w, stand const& where, tape const& t)
        : watchdog_{w}, where_{where}, text_{"replay: " + replay(w.arguments_, t) + "\n"}, since_{clock_type::now()} {
      std::lock_guard const guard{watchdog_.mutex_};
      while (place_ + 1 < leads.size() && leads[place_] != nullptr) ++place_;
      leads[place_] = this;
    }
    lead(lead const&) = delete;
    lead& operator=(lead const&) = delete;
    ~lead() {
      std::lock_guard const guard{watchdog_.mutex_};
      leads[place_] = nullptr;
    }

   private:
    friend class watchdog;
    watchdog& watchdog_;
    stand const& where_;
    std::string text_;
    clock_type::time_point since_;
    std::size_t place_ = 0;
  };

  /// For signal handlers.
  static void say_what_was_going_on() noexcept {
    for (auto const& place : leads) {
      if (lead const* const l = place; l != nullptr)
        static_cast<void>(!::write(STDERR_FILENO, l->text_.data(), l->text_.size()));
    }
  }

 private:
  void watch() {
    faults::spared const mine;
    while (!stop_) {
      std::this_thread::sleep_for(100ms);
      std::lock_guard const guard{mutex_};
      for (auto const& place : leads) {
        lead const* const l = place;
        auto const lasts = l == nullptr ? clock_type::duration{} : clock_type::now() - l->since_;
        if (lasts > 1s) faults::disarm();  // memory comes back: what has waited for it must go on
        if (lasts < patience) continue;
        journal_.line("nothing has ended for 30 s: a hang, on " + l->where_.how().text() + "\n" + l->text_ +
                      l->where_.report());
        std::abort();
      }
    }
  }

  static inline std::array<std::atomic<lead const*>, 8> leads{};
  arguments const& arguments_;
  journal& journal_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Says what was going on when the process dies. Before the first pool: the library passes on what is not its own.
void prepare_to_die() {
#ifdef NOPAL_TEST_SANITIZED
  __sanitizer_set_death_callback(watchdog::say_what_was_going_on);
#else
  for (int const signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    struct sigaction mine{};
    mine.sa_handler = [](int s) {
      watchdog::say_what_was_going_on();
      ::raise(s);
    };
    mine.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &mine, nullptr);
  }
#endif
}

class soaking {
 public:
  explicit soaking(arguments const& a) : arguments_{a}, journal_{a.log}, watchdog_{arguments_, journal_} {}

  int run() {
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
    settings s{t.data(), t.size(), arguments_.workers};
    if (arguments_.faults != 0) s.callers = 1;
    return s;
  }
  /// The `turn`th trial of a tape.
  std::string try_out(stand& where, tape const& t, std::uint64_t turn, totals& all) {
    std::uint64_t const draw = test::mix(turn ^ test::mix(arguments_.seed));
    bool const faulty = static_cast<double>(draw % 1000) < arguments_.faults * 1000;
    constexpr std::array<std::uint64_t, 4> rarities{5, 50, 500, 5000};
    program p = made_of(t, where.how(), faulty);
    watchdog::lead const watched{watchdog_, where, t};
    return where.try_out(p, all, faulty ? rarities[draw / 1000 % 4] : 0, draw);
  }

  /// So many programs on one pair of pools. A tape that fails ends everything.
  template <class NextTape>
  void batch(tape const& head, std::uint64_t programs, NextTape const& next_tape) {
    settings const how = settings_of(head);
    tape failing;
    std::string wrong;
    std::int64_t const blocks = faults::live_blocks();
    {
      stand where{how};
      std::mutex mutex;
      auto const complain = [&](tape const& t, std::string const& what) {
        std::lock_guard const guard{mutex};
        if (wrong.empty()) {
          wrong = what;
          failing = t;
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
      watchdog::lead const watched{watchdog_, where, head};
      if (std::string const w = where.look_behind(); !w.empty()) complain(head, w);
      where.add_to(totals_);
    }
    if (!wrong.empty()) return explain(failing, wrong);
    // What the default pool keeps is not ours, nor what is made once. The other threads need memory now and then.
    if (++batches_ == 1 || how.most.default_pool) return;
    for (int k = 0; faults::live_blocks() > blocks; ++k) {
      if (k == 1000) {
        failed_ = true;
        return explain(head,
                       std::to_string(faults::live_blocks() - blocks) + " blocks of memory are left behind by some programs");
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  void explain(tape const& t, std::string const& wrong) {
    journal_.line("WRONG: " + wrong + "\n  on " + settings_of(t).text() + "\n  replay: " + replay(arguments_, t));
    tape const least = minimised(t);
    journal_.line(least.size() == t.size() ? "  no shorter tape was found that goes wrong"
                                           : "  shorter, also wrong: " + replay(arguments_, least));
  }

  /// Does it go wrong within a second, with nothing else on its pools?
  bool goes_wrong(tape const& t) {
    stand where{settings_of(t)};
    totals unused;
    auto const until = clock_type::now() + 1s;
    for (std::uint64_t k = 0; clock_type::now() < until; ++k) {
      if (!try_out(where, t, k, unused).empty()) return true;
    }
    return false;
  }
  /// Leaves out what can be left out, for 30 seconds.
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
      journal_.line(std::to_string(seconds) + " s: " + std::to_string(totals_.programs) + " programs, " +
                    std::to_string(totals_.nodes) + " nodes, " + std::to_string(totals_.steals) + " steals");
    }
  }

  std::string summary() const {
    std::string s = "seed " + std::to_string(arguments_.seed) + ": " + std::to_string(totals_.programs) + " programs, " +
                    std::to_string(totals_.nodes) + " nodes, " + std::to_string(totals_.steals) + " steals, " +
                    std::to_string(totals_.suspensions) + " suspensions, " + std::to_string(totals_.fibers) + " fibers, " +
                    std::to_string(totals_.sleeps) + " sleeps, " + std::to_string(totals_.thrown) +
                    " programs ended by an exception, " + std::to_string(totals_.faults) + " faults, " +
                    std::to_string(totals_.out_of_memory) + " programs out of memory, " + std::to_string(totals_.serial_forks) +
                    " forks made serial, " + std::to_string(failed_ ? 1 : 0) + " wrong\nchildren run by";
    for (std::size_t k = 0; k < ways; ++k)
      s += std::string{k == 0 ? " " : ", "} + way_names[k] + ' ' + std::to_string(totals_.forks[k]);
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
// The injector asks for a backtrace, which loads a library; LeakSanitizer does not find what the loader keeps of it.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:_dl_map_object_deps\n"; }
#endif

int main(int argc, char** argv) {
  arguments a;
  CLI::App app{"Random programs on nopal, compared with their serial runs. Ends with 1 at the first that differs."};
  app.add_option("--minutes", a.minutes, "how long; 0: no limit");
  app.add_option("--programs", a.programs, "how many; 0: no limit");
  app.add_option("--seed", a.seed, "of the programs")->capture_default_str();
  app.add_option("--workers", a.workers, "workers of the pools")
      ->delimiter(',')
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_option("--faults", a.faults, "the part of the programs during which memory is refused now and then")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--log", a.log, "a file to which all lines are added");
  app.add_option("--tape", a.tape, "only the program of this tape, in hexadecimal digits");
  CLI11_PARSE(app, argc, argv);
  if (a.faults != 0 && !faults::available) {
    std::cerr << "nopal_soak: built without the injector of faults\n";
    return 2;
  }
  if (a.minutes == 0 && a.programs == 0) a.minutes = 1;
  prepare_to_die();
  try {
    return soaking{a}.run();
  } catch (std::exception const& e) {
    std::cerr << "nopal_soak: " << e.what() << '\n';
    return 2;
  }
}
