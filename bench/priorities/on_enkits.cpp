// The benchmark of priorities on enkiTS. What is given while a queue of 256 tasks is full is run by the giver: so a thread beside gives jobs, at
// most as many as fit. A task set is divided into parts by the number of threads, however long they take.

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <enkiTS/TaskScheduler.h>

#include "peers.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int most_given = 200;

struct job : enki::ITaskSet {
  std::function<void()> f;
  explicit job(std::function<void()> what) : f{std::move(what)} {}
  void ExecuteRange(enki::TaskSetPartition range, std::uint32_t /*thread*/) override {
    for (std::uint32_t k = range.start; k < range.end; ++k) f();
  }
};

}  // namespace

void bench::rows_of_enkits(unsigned workers, int leaves, std::function<void(subject const&)> const& row) {
  enki::TaskScheduler pool;
  enki::TaskSchedulerConfig how;
  how.numTaskThreadsToCreate = workers;
  how.numExternalTaskThreads = 1;
  pool.Initialize(how);
  auto const give_now = [&](job& j, enki::TaskPriority p) {
    j.m_Priority = p;
    pool.AddTaskSetToPipe(&j);
  };
  std::vector<std::unique_ptr<job>> urgent;
  auto const high = [&](std::function<void()> f) {
    give_now(*urgent.emplace_back(std::make_unique<job>(std::move(f))), enki::TASK_PRIORITY_HIGH);
  };

  std::vector<std::unique_ptr<job>> given;
  std::thread giver;
  auto const count_down = [](std::atomic<int>& left) {
    return [&left] {
      leaf();
      --left;
    };
  };
  auto const jobs = [&](std::atomic<int>& left) {
    giver = std::thread{[&, leaves] {
      pool.RegisterExternalTaskThread();
      for (int k = 0; k < leaves; ++k) {
        while (k - (leaves - left) >= most_given) std::this_thread::sleep_for(1ms);
        give_now(*given.emplace_back(std::make_unique<job>(count_down(left))), enki::TASK_PRIORITY_LOW);
      }
      pool.DeRegisterExternalTaskThread();
    }};
  };
  auto const set = [&](std::atomic<int>& left) {
    job& j = *given.emplace_back(std::make_unique<job>(count_down(left)));
    j.m_SetSize = static_cast<std::uint32_t>(leaves);
    give_now(j, enki::TASK_PRIORITY_LOW);
  };
  auto const and_end = [&](subject const& s) {
    row(s);
    if (giver.joinable()) giver.join();
    pool.WaitforAll();
    given.clear();
    urgent.clear();
  };
  and_end({"enkiTS: low jobs, nothing high", jobs, nullptr});
  and_end({"enkiTS: low jobs, a high one each ms", jobs, high});
  and_end({"enkiTS: a low task set, a high one each ms", set, high});
}
