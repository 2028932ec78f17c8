#pragma once

// What all threads add to, in 64 tables with a lock each, so that a thread seldom waits. Next: site.cpp and procedure.cpp, which have one of
// these each.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A static object. Its tables are made at their first use, and never destroyed, since procedures may end after static objects.
template <class Content>
class shared_tables {
 public:
  struct alignas(128) table {
    basic_spin_lock<std_sync> lock;
    Content content;
  };

  constexpr shared_tables() noexcept = default;
  shared_tables(shared_tables const&) = delete;
  shared_tables& operator=(shared_tables const&) = delete;

  std::span<table, 64> all() noexcept {
    table* const t = tables_.load(std::memory_order_acquire);  // acquire: pairs with the release in make
    return std::span<table, 64>{t != nullptr ? t : make(), 64};
  }
  /// One of them, spread by the number.
  table& of(std::uint64_t number) noexcept { return all()[number * 0x9e3779b97f4a7c15 >> 58]; }

  /// By a thread that forks, before and after: takes all locks, so that the child finds none taken, and releases them. Allocates nothing.
  void hold() noexcept {
    making_.lock();
    for (table& t : those_made()) t.lock.lock();
  }
  void release() noexcept {
    for (table& t : those_made()) t.lock.unlock();
    making_.unlock();
  }

 private:
  [[gnu::noinline, gnu::cold]] table* make() noexcept {
    std::lock_guard const guard{making_};
    if (those_made().empty()) tables_.store(new table[64], std::memory_order_release);  // release: pairs with the acquire in all
    return those_made().data();
  }
  // Under making_.
  std::span<table> those_made() noexcept {
    table* const t = tables_.load(std::memory_order_relaxed);  // relaxed: under the lock
    return {t, t != nullptr ? std::size_t{64} : 0};
  }

  basic_spin_lock<std_sync> making_;
  std::atomic<table*> tables_{nullptr};
};

}  // namespace nopal::core
