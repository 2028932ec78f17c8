#pragma once

// The tasks of a pool that wait without a native stack, but not at a join, in lists for reports. A task enters one before anything may wake
// it, and leaves it before it continues: so its entry is there while the list is locked. What it has waited for may be gone. Next: waiting_task.hpp, which is listed;
// src/report/report.cpp, which reads the lists.

#include <cstddef>
#include <mutex>
#include <vector>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/spin_lock.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A list for each worker, of the tasks that it has left: so workers rarely meet at a lock.
class listed_tasks {
 public:
  explicit listed_tasks(std::size_t workers) : lists_(workers) {}

  /// By the worker that leaves the task.
  void enter(unsigned worker, listed_task& t) noexcept {
    list& in = lists_[worker];
    std::lock_guard const guard{in.lock};
    t.before = nullptr;
    t.next = in.first;
    if (t.next != nullptr) t.next->before = &t;
    in.first = &t;
  }
  /// By the worker that continues the task, with the number of that which left it.
  void leave(unsigned worker, listed_task& t) noexcept {
    list& in = lists_[worker];
    std::lock_guard const guard{in.lock};
    (t.before != nullptr ? t.before->next : in.first) = t.next;
    if (t.next != nullptr) t.next->before = t.before;
  }

  // ---- Any thread.

  /// Copies of all entries, of the moment for each list. Throws std::bad_alloc. The workers wait for a lock only while a list is counted or
  /// copied.
  std::vector<listed_task> copies() const {
    std::vector<listed_task> all;
    for (list const& in : lists_) {
      for (std::size_t most = 0;;) {
        all.reserve(all.size() + most);
        std::lock_guard const guard{in.lock};
        std::size_t n = 0;
        for (listed_task const* t = in.first; t != nullptr; t = t->next) ++n;
        if (n > all.capacity() - all.size()) {
          most = n + n / 4;
          continue;
        }
        for (listed_task const* t = in.first; t != nullptr; t = t->next) all.push_back(*t);
        break;
      }
    }
    return all;
  }
  bool empty() const noexcept {
    for (list const& in : lists_) {
      std::lock_guard const guard{in.lock};
      if (in.first != nullptr) return false;
    }
    return true;
  }

 private:
  struct alignas(destructive_size) list {
    mutable basic_spin_lock<std_sync> lock;
    listed_task* first = nullptr;
  };
  std::vector<list> lists_;
};

}  // namespace nopal::core
