#pragma once

// The output of nopal_soak while it runs, and when it dies.

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "faults.hpp"
#include "stand.hpp"

#ifdef NOPAL_TEST_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

namespace soak {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct arguments {
  double minutes = 0;
  std::uint64_t programs = 0;
  std::uint64_t seed = 1;
  std::vector<unsigned> workers{1, 2, 3, 8};
  double faults = 0;
  std::vector<std::string> with{"stays", "rounding", "processes", "signals"};
  std::string log, tape;
};

/// Prints to stdout, and to a file.
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

/// The given names that this build has, as bits of company.
inline unsigned bits_of(std::vector<std::string> const& names) {
  unsigned bits = 0;
  for (std::size_t k = 0; k < company_names.size(); ++k) {
    for (std::string const& n : names) bits |= n == company_names[k] ? 1u << k : 0;
  }
  return bits & available_company();
}

inline std::string joined(std::vector<std::string> const& all) {
  std::string text;
  for (std::string const& one : all) text += (text.empty() ? "" : ",") + one;
  return text;
}

inline std::string replay(arguments const& a, tape const& t) {
  std::string workers;
  for (unsigned const w : a.workers) workers += (workers.empty() ? "" : ",") + std::to_string(w);
  return "nopal_soak --programs 10000 --workers " + workers + " --with " + joined(a.with) + (a.faults != 0 ? " --faults 1" : "") +
         " --tape " + hex(t);
}

/// What the callers are about to do: printed if the process dies, and if nothing ends for too long.
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
    /// `where` is null if the pools are about to end.
    lead(watchdog& w, stand const* where, tape const& t)
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
    stand const* where_;
    std::string text_;
    clock_type::time_point since_;
    std::size_t place_ = 0;
  };

  /// For signal handlers.
  static void say_what_was_going_on() noexcept {
    for (auto const& place : leads) {
      if (lead const* const l = place; l != nullptr) static_cast<void>(!::write(STDERR_FILENO, l->text_.data(), l->text_.size()));
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
        if (lasts > 1s) faults::disarm();  // memory is available again: what has waited for it must continue
        if (lasts < patience) continue;
        journal_.line("nothing has ended for 30 s: a hang\n" + l->text_);
        if (l->where_ != nullptr) journal_.line(l->where_->how().text() + "\n" + l->where_->report());
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

/// Prints what ran when the process dies. Before the first pool, since the library passes on signals that are not its own.
inline void prepare_to_die() {
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

}  // namespace soak
