// Measures on this machine the costs that a simulated one cannot show, and prints them in the words of NOPAL_SIMULATION:
// docs/simulation.md. Two threads, on each pair of CPUs that are the first at their distance; medians. With one CPU, the library's own
// numbers stay.

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"

namespace {

using namespace nopal::core;
using clock_type = std::chrono::steady_clock;

constexpr int rounds = 1001;
constexpr int wakes = 301;

double nanoseconds(clock_type::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  auto const middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

void move_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

// Each time includes reading the clock.
double of_the_clock() {
  std::vector<double> t;
  for (int k = 0; k < rounds; ++k) {
    auto const from = clock_type::now();
    t.push_back(nanoseconds(clock_type::now() - from));
  }
  return median(t);
}

double of_a_pause() {
  constexpr int times = 200'000;
  auto const from = clock_type::now();
  for (int k = 0; k < times; ++k) cpu_relax();
  return nanoseconds(clock_type::now() - from) / times;
}

double of_a_yield() {
  constexpr int times = 20'000;
  auto const from = clock_type::now();
  for (int k = 0; k < times; ++k) ::sched_yield();
  return nanoseconds(clock_type::now() - from) / times;
}

// The size of a task's frame: the thief needs the frame before anything runs.
struct alignas(64) frame_lines {
  std::array<std::uint64_t, 32> words{};
};

struct pair_of_cpus {
  double look;
  double steal;
};

// The owner writes its deque and the entries; then the thief looks, or steals. One after the other, so that every cache line is the
// owner's.
pair_of_cpus between(int owners, int thiefs, double clock) {
  deque d;
  frame_lines frame;
  std::atomic<int> turn{0};  // even: the owner's
  std::vector<double> looks;
  std::vector<double> steals;
  std::thread thief{[&] {
    move_to(thiefs);
    for (int k = 0; k < 2 * rounds; ++k) {
      while (turn.load(std::memory_order_acquire) != 2 * k + 1) cpu_relax();  // acquire: pairs with the owner's release
      auto const from = clock_type::now();
      if (k % 2 == 0) {
        bool const empty = d.looks_empty();
        looks.push_back(nanoseconds(clock_type::now() - from) - clock + (empty ? 0 : 0.001));
      } else {
        std::uint64_t sum = d.steal();
        for (std::uint64_t const w : frame.words) sum += w;
        auto const to = clock_type::now();
        if (sum != 0) steals.push_back(nanoseconds(to - from) - clock);
      }
      turn.store(2 * k + 2, std::memory_order_release);  // pairs with the owner's acquire
    }
  }};
  std::thread owner{[&] {
    move_to(owners);
    for (int k = 0; k < 2 * rounds; ++k) {
      while (turn.load(std::memory_order_acquire) != 2 * k) cpu_relax();  // acquire: pairs with the thief's release
      for (std::uint64_t& w : frame.words) w += 1;
      d.push(reinterpret_cast<std::uintptr_t>(&frame));
      if (k % 2 == 0) {
        static_cast<void>(d.pop() || d.pop_slow());
      } else {
        d.publish_all();
      }
      turn.store(2 * k + 1, std::memory_order_release);  // pairs with the thief's acquire
    }
  }};
  thief.join();
  owner.join();
  return {median(looks), median(steals)};
}

// One thread sleeps, the other wakes it: the time of the wake-up for the waker, and until the sleeper runs.
std::pair<double, double> waking(int sleeps_on, int wakes_on) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::int64_t> woken{0};
  std::vector<double> calls;
  std::vector<double> until;
  auto const now = [] { return clock_type::now().time_since_epoch().count(); };
  std::thread sleeper{[&] {
    move_to(sleeps_on);
    for (std::uint32_t k = 0; k < wakes; ++k) {
      while (word.load(std::memory_order_seq_cst) == k) std_sync::wait(word, k);
      woken.store(now(), std::memory_order_seq_cst);
    }
  }};
  std::thread waker{[&] {
    move_to(wakes_on);
    for (std::uint32_t k = 0; k < wakes; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds{300});  // long enough for it to sleep
      woken.store(0, std::memory_order_seq_cst);
      word.store(k + 1, std::memory_order_seq_cst);
      std::int64_t const from = now();
      std_sync::wake(word);
      std::int64_t const to = now();
      std::int64_t at = 0;
      while ((at = woken.load(std::memory_order_seq_cst)) == 0) cpu_relax();
      calls.push_back(static_cast<double>(to - from));
      until.push_back(static_cast<double>(std::max<std::int64_t>(0, at - to)));
    }
  }};
  sleeper.join();
  waker.join();
  return {median(calls), median(until)};
}

std::string list(std::vector<double> const& all) {
  std::string text;
  for (double const n : all) {
    if (!text.empty()) text += '/';
    text += std::to_string(std::max(0L, std::lround(n)));
  }
  return text;
}

}  // namespace

int main() {
  cpu_limits const limits = read_cpu_limits();
  topology const machine = topology::load(limits.cpus);
  std::printf("# what this machine takes, in nanoseconds, by ./nopal calibrate\n");
  std::printf("relax=%.1f\nyield=%.0f\n", of_a_pause(), of_a_yield());
  std::vector<place> const places = machine.spread(machine.pus());
  std::map<int, std::pair<int, int>> pairs;  // the first pair of CPUs at each distance
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      pairs.try_emplace(std::max(1, machine.distance(places[i], places[j])), places[i].cpu, places[j].cpu);
    }
  }
  if (pairs.empty() || !machine.is_this_machine()) {
    std::printf("# one CPU, or not this machine's: look, steal, wake and wake_up stay as the library has them\n");
    return 0;
  }
  double const clock = of_the_clock();
  std::vector<double> looks;
  std::vector<double> steals;
  for (auto const& [distance, cpus] : pairs) {
    std::printf("# distance %d: CPUs %d and %d\n", distance, cpus.first, cpus.second);
    auto const [look, steal] = between(cpus.first, cpus.second, clock);
    looks.push_back(look);
    steals.push_back(steal);
  }
  auto const [wake, wake_up] = waking(pairs.begin()->second.first, pairs.begin()->second.second);
  std::printf("look=%s\nsteal=%s\nwake=%.0f\nwake_up=%.0f\n", list(looks).c_str(), list(steals).c_str(), wake, wake_up);
}
