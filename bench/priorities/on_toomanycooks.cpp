// The benchmark of priorities on TooManyCooks: an executor with two priorities, of which 0 comes first.

#include <utility>

#include <tmc/ex_cpu.hpp>
#include <tmc/spawn_tuple.hpp>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>

#include "peers.hpp"

namespace {

tmc::task<void> tree(int leaves) {
  if (leaves == 1) {
    bench::leaf();
    co_return;
  }
  co_await tmc::spawn_tuple(tree(leaves / 2), tree(leaves - leaves / 2));
}
tmc::task<void> whole_tree(int leaves, std::atomic<int>& left) {
  co_await tree(leaves);
  left = 0;
}

}  // namespace

void bench::rows_of_toomanycooks(unsigned workers, int leaves, std::function<void(subject const&)> const& row) {
  tmc::ex_cpu pool;
  pool.set_thread_count(workers).set_priority_count(2).init();
  auto const high = [&](std::function<void()> f) { tmc::post(pool, std::move(f), 0); };
  auto const jobs = [&](std::atomic<int>& left) {
    for (int k = 0; k < leaves; ++k) {
      auto job = [&left] {
        leaf();
        --left;
      };
      tmc::post(pool, std::move(job), 1);  // which keeps a reference to what is not moved
    }
  };
  row({"TooManyCooks: low jobs, nothing high", jobs, nullptr});
  row({"TooManyCooks: low jobs, a high one each ms", jobs, high});
  row({"TooManyCooks: a low task, a high one each ms", [&](std::atomic<int>& left) { tmc::post(pool, whole_tree(leaves, left), 1); },
       high});
}
