// Reports while all that they read appears and disappears: mutexes, counters, channels, stacks, names, threads. No report may access freed
// memory (AddressSanitizer) or race (ThreadSanitizer), and each has its form.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::fiber_name;
using nopal::spawn;

void locks() {
  auto const m = std::make_unique<nopal::mutex>();
  counter left;
  for (int k = 0; k < 4; ++k) {
    spawn(left, [&] {
      fiber_name const me{"one that locks"};
      for (int n = 0; n < 10; ++n) {
        m->lock();
        nopal::yield();
        m->unlock();
      }
    });
  }
  nopal::wait_for(left);
}

void counts() {
  auto const some = std::make_unique<counter>(3);
  counter left;
  spawn(left, [&] {
    try {
      nopal::wait_for(*some, 1);
    } catch (std::runtime_error const&) {
    }
  });
  spawn(left, [&] {
    some->done();
    spawn(*some, [] { throw std::runtime_error{"held"}; });
    nopal::yield();
    some->done(2);
  });
  nopal::wait_for(left);
  try {
    nopal::wait_for(*some);
  } catch (std::runtime_error const&) {
  }
}

void passes() {
  auto const ch = std::make_unique<nopal::channel<int>>(1);
  counter left;
  spawn(left, [&] {
    for (int k = 0; k < 20; ++k) ch->push(k);
    ch->close();
  });
  while (ch->pop()) {
  }
  nopal::wait_for(left);
}

void waits_in_threads(nopal::pool& pool) {
  auto const given = std::make_unique<nopal::semaphore>(0);
  std::thread gives{[&] {
    auto job = pool.submit([] { nopal::yield(); });
    job.wait();
    given->release();
  }};
  given->acquire();
  gives.join();
}

nopal::task<void> locks_in_turn(nopal::mutex& m) {
  for (int n = 0; n < 5; ++n) {
    auto held = co_await m.lock();
    co_await nopal::sleep_for(10us);
  }
}
nopal::task<void> pushes_some(nopal::channel<int>& to) {
  for (int k = 0; k < 20; ++k) static_cast<void>(co_await to.push(k));
  to.close();
}
nopal::task<void> pops_all(nopal::channel<int>& from) {
  while (auto v = co_await from.pop()) {  // GCC 12.2 compiles `while (co_await from.pop())` wrongly where there is no variable
  }
}

void waits_in_tasks(nopal::pool& pool) {
  auto const m = std::make_unique<nopal::mutex>();
  auto const ch = std::make_unique<nopal::channel<int>>(1);
  std::vector<nopal::future<void>> all;
  for (int k = 0; k < 3; ++k) all.push_back(pool.submit(locks_in_turn, std::ref(*m)));
  all.push_back(pool.submit(pushes_some, std::ref(*ch)));
  all.push_back(pool.submit(pops_all, std::ref(*ch)));
  for (auto& f : all) f.get();
}

/// What is wrong with the report, or "".
std::string fault_of(std::string const& report) {
  if (report == "nothing waits\n") return {};
  std::istringstream lines{report};
  std::size_t said = 0, shown = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ") || line.starts_with("these wait for each other: ")) continue;
    if (line.starts_with("  ")) {
      ++shown;
      if (line.find(" waits for ") == line.npos) return "no wait: " + line;
      if (std::size_t const name = line.find(" ("); line.starts_with("  the stack") && name < line.find(" waits for ")) {
        if (!line.substr(name).starts_with(" (one that locks)")) return "another name: " + line;
      }
    } else {
      said += std::stoul(line);
    }
  }
  return said == shown ? std::string{} : "another number of lines";
}

TEST(report_stress, while_everything_comes_and_goes) {
  nopal::pool pool{{.workers = 3}};
  std::atomic<bool> over{false};
  std::vector<std::thread> programs;
  programs.emplace_back([&] {
    while (!over) pool.run([] { nopal::parallel_invoke(locks, [] { counts(); }, [] { passes(); }); });
  });
  programs.emplace_back([&] {
    while (!over) waits_in_threads(pool);
  });
  programs.emplace_back([&] {
    while (!over) waits_in_tasks(pool);
  });
  auto const end = std::chrono::steady_clock::now() + 2s;
  std::size_t reports = 0, waits = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::string const report = pool.report();
    std::string const fault = fault_of(report);
    EXPECT_EQ(fault, "") << report;
    if (!fault.empty()) break;
    ++reports;
    waits += report != "nothing waits\n";
  }
  // And by those that are reported about.
  pool.run([&] {
    counter left;
    for (int k = 0; k < 8; ++k) {
      spawn(left, [&] {
        for (int n = 0; n < 5; ++n) EXPECT_EQ(fault_of(pool.report()), "");
      });
    }
    nopal::wait_for(left);
  });
  over = true;
  for (std::thread& p : programs) p.join();
  EXPECT_GT(waits, 0u);
  EXPECT_EQ(pool.report(), "nothing waits\n");
  RecordProperty("reports", std::to_string(reports));
}

}  // namespace
