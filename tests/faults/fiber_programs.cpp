// Fibers: spawned, parked, with time limits, synchronised, in reports.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "nopal/nopal.hpp"
#include "parts.hpp"
#include "programs.hpp"

namespace test::faults {

using namespace std::chrono_literals;
using nopal::pool;

bool spawns(pool& p) {
  std::atomic<int> ran{0};
  p.run([&] {
    nopal::counter left;
    spawns_and_waits(left, 10'000, [&] { ++ran; });
  });
  return ran == 10'000;
}

bool spawns_outside(pool&) {
  std::atomic<int> ran{0};
  nopal::counter left;
  spawns_and_waits(left, 20, [&] { ++ran; });
  return ran == 20;
}

bool fibers_park(pool& p) {
  std::atomic<int> ran{0};
  p.run([&] {
    nopal::counter outer;
    spawns_and_waits(outer, 20, [&] {
      nopal::counter inner;
      spawns_and_waits(inner, 3, [&] {
        nopal::yield();
        ++ran;
      });
    });
  });
  return ran == 60;
}

bool waits_with_limits(pool& p) {
  bool right = true;
  p.run([&] {
    nopal::counter never{1}, left;
    struct reaches {
      nopal::counter& c;
      ~reaches() { c.done(); }
    } const at_the_end{never};
    right = !nopal::wait_for(never, 0, 200us);
    std::exception_ptr error;
    try {
      nopal::spawn(left, [] { nopal::sleep_for(100us); });
      right = nopal::wait_for(left, 0, 30s) && right;
    } catch (...) {
      error = std::current_exception();
    }
    try {
      nopal::wait_for(left);
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
    if (error != nullptr) std::rethrow_exception(error);
  });
  nopal::counter never{1};
  right = !nopal::wait_for(never, 0, 200us) && right;
  never.done();
  return right;
}

bool synchronises(pool& p) {
  int sum = 0;
  std::atomic<int> permits{0};
  bool late = false;
  p.run([&] {
    nopal::mutex m;
    nopal::condition_variable changed;
    nopal::semaphore s{2};
    nopal::counter left;
    int arrived = 0;
    spawns_and_waits(left, 8, [&] {
      s.acquire();
      ++permits;
      s.release();
      std::unique_lock lock{m};
      ++sum;
      ++arrived;
      changed.notify_all();
    });
    std::unique_lock lock{m};
    changed.wait(lock, [&] { return arrived == 8; });
    nopal::semaphore none{0};
    late = !none.try_acquire_for(100us) && changed.wait_for(lock, 100us) == std::cv_status::timeout;
  });
  return sum == 8 && permits == 8 && late;
}

bool passes_through_channels(pool& p) {
  long sum = 0;
  p.run([&] {
    nopal::channel<long> c{2};
    nopal::counter left;
    nopal::spawn(left, [&] {
      while (auto const v = c.pop()) sum += *v;
    });
    try {
      for (long k = 1; k <= 20; ++k) c.push(k);
    } catch (...) {
      c.close();
      nopal::wait_for(left);
      throw;
    }
    c.close();
    nopal::wait_for(left);
  });
  return sum == 210;
}

bool reports(pool& p) {
  bool right = true;
  p.run([&] {
    nopal::counter held{1}, left;
    std::exception_ptr error;
    try {
      nopal::spawn(left, [&] { nopal::wait_for(held); });
      nopal::yield();
      right = !p.report().empty() && p.stats().per_worker.size() == p.workers();
    } catch (...) {
      error = std::current_exception();
    }
    held.done();
    nopal::wait_for(left);
    if (error != nullptr) std::rethrow_exception(error);
  });
  return right;
}

}  // namespace test::faults
