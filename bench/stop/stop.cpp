// How soon work ends after a request to stop: from request_stop() on a thread outside to the return of with_stop. A line for each kind of
// work. By hand: ../README.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <nopal/nopal.hpp>

#include "../opaque.hpp"
#include "../process.hpp"
#include "../quantile.hpp"

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The work: `run(begun)` reports that it has begun, and ends by nopal::stopped.
struct subject {
  std::string name;
  std::function<void(std::atomic<bool>& begun)> run;
};

/// No thread counts it down before.
struct done_at_the_end {
  explicit done_at_the_end(nopal::counter& c) noexcept : counter{c} {}
  ~done_at_the_end() { counter.done(); }
  nopal::counter& counter;
};

std::uint64_t spin(std::uint64_t x, int steps) {
  for (int k = 0; k < steps; ++k) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
  return x;
}

/// A loop that would take hours.
template <int Steps>
void loop(std::atomic<bool>& begun) {
  nopal::parallel_for(std::uint64_t{0}, std::uint64_t{1} << 44, [&begun](std::uint64_t i) {
    if (i == 0) begun = true;
    std::uint64_t x = spin(i, Steps);
    bench::make_opaque(x);
  });
}

std::vector<subject> subjects() {
  return {
      {"loop, short iterations", loop<1>},
      {"loop, long iterations", loop<3000>},
      {"wait_for",
       [](std::atomic<bool>& begun) {
         nopal::counter never{1};
         done_at_the_end const open{never};
         begun = true;
         nopal::wait_for(never);
       }},
      {"sleep_for",
       [](std::atomic<bool>& begun) {
         begun = true;
         nopal::sleep_for(1h);
       }},
      {"pop",
       [](std::atomic<bool>& begun) {
         nopal::channel<int> empty{1};
         begun = true;
         static_cast<void>(empty.pop());
       }},
      {"push",
       [](std::atomic<bool>& begun) {
         nopal::channel<int> full{1};
         full.push(1);
         begun = true;
         full.push(2);
       }},
      {"try_lock_for",
       [](std::atomic<bool>& begun) {
         nopal::timed_mutex m;
         m.lock();
         nopal::counter ended{1};
         std::exception_ptr thrown;
         nopal::spawn([&] {
           try {
             begun = true;
             static_cast<void>(m.try_lock_for(1h));
           } catch (...) {
             thrown = std::current_exception();
           }
           ended.done();
         });
         nopal::without_stop([&] { nopal::wait_for(ended); });
         m.unlock();
         if (thrown) std::rethrow_exception(thrown);
       }},
      {"1000 fibers that wait",
       [](std::atomic<bool>& begun) {
         nopal::counter never{1};
         done_at_the_end const open{never};
         nopal::counter left{0};
         std::atomic<int> waiting{0};
         for (int k = 0; k < 1000; ++k) {
           nopal::spawn(left, [&] {
             if (++waiting == 1000) begun = true;
             try {
               nopal::wait_for(never);
             } catch (nopal::stopped const&) {
             }
           });
         }
         nopal::without_stop([&] { nopal::wait_for(left); });
         nopal::stop_point();
       }},
  };
}

/// Nanoseconds from the request to the end.
double once(nopal::pool& pool, subject const& what) {
  std::stop_source source;
  std::atomic<bool> begun{false};
  bool stopped = false;
  clock::time_point asked;
  std::thread asks{[&] {
    while (!begun) std::this_thread::sleep_for(50us);
    std::this_thread::sleep_for(500us);  // now it most likely waits
    asked = clock::now();
    source.request_stop();
  }};
  clock::time_point ended;
  pool.run([&] {
    try {
      nopal::with_stop(source.get_token(), [&] { what.run(begun); });
    } catch (nopal::stopped const&) {
      stopped = true;
    }
    ended = clock::now();
  });
  asks.join();
  if (!stopped) throw std::runtime_error{what.name + " ended, but not by the request to stop"};
  return std::chrono::duration<double, std::nano>(ended - asked).count();
}

}  // namespace

int main(int argc, char** argv) {
  unsigned workers = 2;
  unsigned rounds = 500;
  CLI::App app{"nopal benchmark: how soon what runs ends once it is asked to stop"};
  app.add_option("--workers", workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rounds", rounds, "how often each is stopped")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    nopal::pool pool{{.workers = workers}};
    for (subject const& what : subjects()) {
      std::vector<double> ns;
      for (unsigned k = 0; k < rounds; ++k) ns.push_back(once(pool, what));
      std::ranges::sort(ns);
      nlohmann::ordered_json line;
      line["kernel"] = "stop";
      line["what"] = what.name;
      line["workers"] = workers;
      line["rounds"] = rounds;
      line["median_ns"] = bench::quantile(ns, 0.5);
      line["p90_ns"] = bench::quantile(ns, 0.9);
      line["p99_ns"] = bench::quantile(ns, 0.99);
      line["ok"] = true;
      line["compiler"] = bench::compiler();
      std::cout << line.dump() << std::endl;
    }
    return 0;
  } catch (std::exception const& e) {
    std::cerr << "stop: " << e.what() << '\n';
    return 2;
  }
}
