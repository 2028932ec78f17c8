// What an operation costs: schedule and bulk on nopal, beside exec::static_thread_pool, and Asio's pool where it is compiled with
// NOPAL_EXECUTION_ASIO. The least of 60 rounds. nopal_execution_times [WORKERS]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exec/static_thread_pool.hpp>
#include <stdexec/execution.hpp>
#include <utility>
#include <vector>
#if NOPAL_EXECUTION_ASIO
#include <exec/asio/asio_thread_pool.hpp>
#endif

#include "nopal/execution.hpp"
#include "nopal/nopal.hpp"

namespace ex = stdexec;
using steady = std::chrono::steady_clock;

namespace {

/// The least time of a round, in ns, divided by `operations`: other programs of the machine make the others longer.
template <class F>
double least(double operations, F f) {
  double t = 1e300;
  for (int i = 0; i < 60; ++i) {
    auto const begin = steady::now();
    f();
    t = std::min(t, std::chrono::duration<double, std::nano>(steady::now() - begin).count() / operations);
  }
  return t;
}

/// The next of a chain: starts itself again, on a worker, until it has run often enough.
template <class Scheduler>
struct chain {
  struct receiver {
    using receiver_concept = ex::receiver_tag;
    chain* of;
    void set_value() noexcept { of->again(); }
    void set_stopped() noexcept {}
  };
  using operation = ex::connect_result_t<ex::schedule_result_t<Scheduler>, receiver>;
  // Two, since the one that runs must live until it has returned.
  struct place {
    alignas(operation) std::byte at[sizeof(operation)];
  };

  Scheduler on;
  std::atomic<int>* running;
  long left;
  place places[2] = {};
  operation* last[2] = {};

  void again() noexcept {
    if (left-- == 0) {
      --*running;
      running->notify_one();
      return;
    }
    std::size_t const i = static_cast<std::size_t>(left & 1);
    if (last[i] != nullptr) last[i]->~operation();
    last[i] = ::new (static_cast<void*>(places[i].at)) operation(ex::connect(ex::schedule(on), receiver{this}));
    ex::start(*last[i]);
  }
};

template <class Scheduler>
void chains(Scheduler on, int count, long length) {
  std::vector<chain<Scheduler>> all;
  std::atomic<int> running{count};
  for (int i = 0; i < count; ++i) all.push_back({on, &running, length});
  for (auto& c : all) c.again();
  for (int n = running; n != 0; n = running) running.wait(n);
}

/// So long a body takes, in ns.
void work(int ns) {
  auto const end = steady::now() + std::chrono::nanoseconds{ns};
  while (steady::now() < end) {
  }
}

template <class Scheduler>
void rows(char const* name, Scheduler on) {
  std::vector<int> v(1'000'000);
  auto loop = [&](auto n, auto body) { ex::sync_wait(ex::schedule(on) | ex::bulk(ex::par, n, body)); };
  std::printf("%-20s", name);
  std::printf(" %9.0f", least(50, [&] {
                for (int i = 0; i < 50; ++i) ex::sync_wait(ex::schedule(on));
              }));
  // Long enough that the end, where the thread outside wakes up, does not count: a row of its own shows what that takes.
  std::printf(" %9.1f", least(20'000, [&] { chains(on, 1, 20'000); }));
  std::printf(" %9.1f", least(8 * 2'500, [&] { chains(on, 8, 2'500); }));
  std::printf(" %9.1f", least(1000, [&] { chains(on, 1, 1); }));
  std::printf(" %9.1f", least(1000, [&] { loop(v.size(), [&](std::size_t k) { v[k] += 3; }); }));
  std::printf(" %9.1f", least(1000, [&] { loop(1000, [](int) { asm volatile(""); }); }));
  std::printf(" %9.1f", least(1000, [&] { loop(4, [](int) { work(200'000); }); }));
  std::printf(" %9.1f\n", least(1000, [&] { loop(64, [](int k) { work(k < 32 ? 20'000 : 2'000); }); }));
}

}  // namespace

int main(int count, char** arguments) {
  unsigned const workers = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 2;
  std::printf("%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "", "sync_wait", "chain", "8 chains",
              "started", "bulk 1e6", "bulk 1000", "4 long", "uneven", "workers and units", "ns", "ns", "ns", "us", "us", "us", "us", "us");
  for (int round = 0; round < 2; ++round) {
    {
      nopal::pool pool{{.workers = workers}};
      rows("nopal", nopal::get_scheduler(pool));
    }
    {
      exec::static_thread_pool pool{workers};
      rows("static_thread_pool", pool.get_scheduler());
    }
#if NOPAL_EXECUTION_ASIO
    {
      exec::asio::asio_thread_pool pool{workers};
      rows("asio_thread_pool", pool.get_scheduler());
    }
#endif
  }
}
