// Some state belongs to one worker, here a journal without a lock: a task moves to that worker to use it, and continues there.
// Work Θ(n), span Θ(n): the journal is written by one worker.

#include <nopal/nopal.hpp>

#include <cstdio>
#include <vector>

/// Only worker 0 of `home` accesses it.
struct journal {
  nopal::pool& home;
  std::vector<int> lines = {};
};

int expensive(int n) {
  int steps = 0;
  for (long x = n + 1; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps;
  return steps;
}

nopal::task<> work_and_note(journal& j, int n) {
  int const result = expensive(n);  // on any worker
  co_await nopal::resume_on(j.home.worker(0));
  j.lines.push_back(result);  // on worker 0 of `home`
}

nopal::task<> work_and_note_all(journal& j, int n) {
  for (int i = 0; i < n; ++i) co_await nopal::fork(work_and_note, j, i);
  co_await nopal::join;
}

int main() {
  nopal::pool workers;
  nopal::pool scribe{{.workers = 1}};
  journal j{scribe};
  workers.run(work_and_note_all, j, 1000);
  long sum = 0, expected = 0;
  for (int const line : j.lines) sum += line;
  for (int i = 0; i < 1000; ++i) expected += expensive(i);
  std::printf("%zu notes, %ld steps\n", j.lines.size(), sum);
  return j.lines.size() == 1000 && sum == expected ? 0 : 1;
}
