// How soon a job of high priority begins on a pool that is full of other work, whose leaves take 100 µs: the delay at the median, the 99th
// percentile and at worst; and how long that other work takes. A line for each kind of work, for a pool of threads with one queue, and for
// the libraries in peers.hpp that were found. By hand, or by table.py: ../README.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <nopal/nopal.hpp>

#include "../quantile.hpp"
#include "peers.hpp"
#include "subject.hpp"

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using bench::leaf;
using bench::subject;
using nopal::priority;

std::chrono::microseconds leaf_takes{100};

/// As many leaves, by forks.
void tree(int leaves) {
  if (leaves == 1) return leaf();
  nopal::parallel_invoke([=] { tree(leaves / 2); }, [=] { tree(leaves - leaves / 2); });
}
nopal::task<void> task_tree(int leaves) {
  if (leaves == 1) {
    leaf();
    co_return;
  }
  co_await nopal::fork(task_tree, leaves / 2);
  co_await nopal::call(task_tree, leaves - leaves / 2);
  co_await nopal::join;
}

/// Threads that take from one queue.
class plain_pool {
 public:
  explicit plain_pool(unsigned n) {
    while (n-- > 0) threads_.emplace_back([this] { work(); });
  }
  plain_pool(const plain_pool&) = delete;
  plain_pool& operator=(const plain_pool&) = delete;
  ~plain_pool() {
    submit(nullptr);
    for (std::thread& t : threads_) t.join();
  }
  void submit(std::function<void()> f) {
    {
      const std::lock_guard guard{mutex_};
      queue_.push_back(std::move(f));
    }
    some_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock guard{mutex_};
      some_.wait(guard, [this] { return !queue_.empty(); });
      if (queue_.front() == nullptr) return some_.notify_all();
      const auto f = std::move(queue_.front());
      queue_.pop_front();
      guard.unlock();
      f();
    }
  }
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
};

/// Prints a line: what was measured, the delays of high jobs in microseconds, if there are any, and how long the other work took.
void print(bool as_csv, const std::string& name, std::vector<double> delays, double seconds) {
  std::ranges::sort(delays);
  const auto at = [&](double part) { return delays.empty() ? std::string{} : fmt::format("{:.1f}", bench::quantile(delays, part)); };
  fmt::print(fmt::runtime(as_csv ? "\"{}\",{},{},{},{},{:.3f}\n" : "{:<44} {:>6} {:>10} {:>10} {:>10} {:>9.3f}\n"), name, delays.size(),
             at(0.5), at(0.99), at(1), seconds);
}

/// Gives the work, then a high job, waits for it and for a millisecond, and so on until the work has ended.
void measure(const subject& s, int leaves, bool as_csv) {
  std::atomic<int> left{leaves};
  std::vector<double> delays;
  const auto began = clock::now();
  s.give(left);
  while (left > 0) {
    std::this_thread::sleep_for(1ms);
    if (s.give_high == nullptr || left == 0) continue;
    std::atomic<bool> done{false};
    double delay = 0;
    const auto given = clock::now();
    s.give_high([&] {
      delay = std::chrono::duration<double, std::micro>(clock::now() - given).count();
      done = true;
      done.notify_one();
    });
    done.wait(false);
    delays.push_back(delay);
  }
  print(as_csv, s.name, std::move(delays), std::chrono::duration<double>(clock::now() - began).count());
}

}  // namespace

void bench::leaf() {
  for (auto const end = clock::now() + leaf_takes; clock::now() < end;) {
  }
}

int main(int argc, char** argv) {
  CLI::App app{"How soon a job of high priority begins where all workers have other work"};
  unsigned workers = 2;
  int leaves = 20'000;
  int repeats = 1;
  app.add_option("--workers", workers, "of the pool")->check(CLI::Range(1, 16384));
  app.add_option("--leaves", leaves, "of the other work")->check(CLI::Range(1, 100'000'000));
  app.add_option("--leaf", leaf_takes, "how long one takes, as 100us");
  bool as_csv = false;
  app.add_flag("--csv", as_csv, "lines of comma-separated values");
  app.add_option("--repeats", repeats, "so many rounds of all rows")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);

  if (as_csv) {
    fmt::print("what,jobs,median,p99,worst,seconds\n");
  } else {
    fmt::print("{:<44} {:>6} {:>10} {:>10} {:>10} {:>9}\n", "delays in µs, workers: " + std::to_string(workers), "jobs", "median", "99 %",
               "worst", "all, s");
  }
  const auto row = [&](const subject& s) { measure(s, leaves, as_csv); };
  for (; repeats > 0; --repeats) {
    nopal::pool pool{{.workers = workers}};
    const auto high = [&](std::function<void()> f) { pool.detach(priority::high, std::move(f)); };
    const auto jobs = [&](priority p) {
      return [&pool, p, leaves](std::atomic<int>& left) {
        for (int k = 0; k < leaves; ++k) {
          pool.detach(p, [&left] {
            leaf();
            --left;
          });
        }
      };
    };
    const auto forks = [&](std::atomic<int>& left) {
      pool.detach(priority::low, [&left, leaves] {
        tree(leaves);
        left = 0;
      });
    };
    const auto tasks = [&](std::atomic<int>& left) {
      pool.detach(priority::low, [&left, leaves] {
        nopal::sync_wait(task_tree, leaves);
        left = 0;
      });
    };
    const auto loop = [&](std::atomic<int>& left) {
      pool.detach(priority::low, [&left, leaves] {
        nopal::parallel_for(0, leaves, [](int) { leaf(); });
        left = 0;
      });
    };
    row({"normal jobs, nothing high", jobs(priority::normal), nullptr});
    row({"low jobs, nothing high", jobs(priority::low), nullptr});
    row({"low jobs, a high one each ms", jobs(priority::low), high});
    row({"a low job that forks, a high one each ms", forks, high});
    row({"a low task, a high one each ms", tasks, high});
    row({"a low loop, a high one each ms", loop, high});
    plain_pool plain{workers};
    const auto plain_jobs = [&](std::atomic<int>& left) {
      for (int k = 0; k < leaves; ++k) {
        plain.submit([&left] {
          leaf();
          --left;
        });
      }
    };
    row({"threads and one queue, nothing else", plain_jobs, nullptr});
    row({"threads and one queue, one more each ms", plain_jobs, [&](std::function<void()> f) { plain.submit(std::move(f)); }});
    for (const bench::rows_of_peer rows : bench::peers) {
      if (rows != nullptr) rows(workers, leaves, row);
    }
  }
}
