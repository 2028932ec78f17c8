// Parking under a scheduler that has only what parking needs. Every round waits for its own work, so that the next round cannot repair a
// lost wake-up; then a watchdog reports it and wakes all.

#include "nopal/core/sleep/parking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/base/random.hpp"
#include "nopal/core/sleep/inbox.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::core::resumable;
using nopal::core::rng;
using nopal::core::std_sync;
using steady = std::chrono::steady_clock;

/// Threads stop at random before every shared access, and sleepers wake for no reason.
struct chaos_sync : std_sync {
  static inline thread_local rng random{0};
  static void hesitate() noexcept {
    std::uint64_t const r = random();
    if ((r & 15) == 0) {
      std_sync::yield();
    } else if ((r & 15) < 4) {
      for (std::uint64_t k = r >> 4 & 127; k != 0; --k) std_sync::relax();
    } else if ((r >> 4 & 255) == 0) {
      std::this_thread::sleep_for(50us);
    }
  }

  template <class T>
  struct atomic : std::atomic<T> {
    using base = std::atomic<T>;
    using base::base;
    T load(std::memory_order o) const noexcept { return hesitate(), base::load(o); }
    void store(T v, std::memory_order o) noexcept { hesitate(), base::store(v, o); }
    T exchange(T v, std::memory_order o) noexcept { return hesitate(), base::exchange(v, o); }
    T fetch_add(T v, std::memory_order o) noexcept { return hesitate(), base::fetch_add(v, o); }
    T fetch_sub(T v, std::memory_order o) noexcept { return hesitate(), base::fetch_sub(v, o); }
    bool compare_exchange_strong(T& expected, T v, std::memory_order o, std::memory_order failure) noexcept {
      return hesitate(), base::compare_exchange_strong(expected, v, o, failure);
    }
    bool compare_exchange_weak(T& expected, T v, std::memory_order o, std::memory_order failure) noexcept {
      return hesitate(), base::compare_exchange_weak(expected, v, o, failure);
    }
  };

  static void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept {
    if (random() % 4 != 0) std_sync::wait(a, expected);
  }
  static void wake(std::atomic<std::uint32_t>& a) noexcept {
    hesitate();
    std_sync::wake(a);
  }
};

void sow(std::uint64_t seed, std::uint64_t stream) { chaos_sync::random = rng{seed, stream}; }

struct errand : resumable {
  bool generous = false;  // its runner offers a piece to each node, and does not end before these are taken
  std::atomic<bool> done{false};
};

template <class Sync>
class office {
 public:
  explicit office(std::vector<unsigned> nodes)
      : nodes_{std::move(nodes)}, parking_{nodes_}, inboxes_(nodes_.size()), pieces_(nodes_.back() + 1) {
    for (unsigned i = 0; i < nodes_.size(); ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~office() {
    stopping_.store(true, std::memory_order_seq_cst);
    for (unsigned i = 0; i < nodes_.size(); ++i) parking_.notify(i);
    for (std::thread& t : threads_) t.join();
  }

  unsigned workers() const { return static_cast<unsigned>(nodes_.size()); }

  void put(errand& e, unsigned i) {
    e.done.store(false, std::memory_order_relaxed);
    parking_.add();
    inboxes_[i].push(&e);
    parking_.announce(i);
  }
  bool occupy(unsigned i) { return parking_.occupy(i); }
  void vacate(unsigned i) {
    parking_.vacate(i, [&] { return must_stay_awake(i); });
  }
  bool all_sleep() const {
    for (unsigned i = 0; i < workers(); ++i) {
      if (!parking_.is_parked(i)) return false;
    }
    return !parking_.visible_work();
  }

 private:
  bool must_stay_awake(unsigned i) const { return stopping_.load(std::memory_order_seq_cst) || !inboxes_[i].empty(); }

  void work(unsigned i) {
    sow(seed_, i);
    bool looking = false;
    unsigned idle = 0;
    while (!stopping_.load(std::memory_order_relaxed)) {
      if (!std::exchange(looking, true)) parking_.start_searching(i);
      if (find(i)) {
        looking = false;
        idle = 0;
      } else if (++idle > chaos_sync::random() % 8) {
        parking_.park(i, [&] { return must_stay_awake(i); });
        idle = 0;
      }
      std::this_thread::yield();
    }
  }

  // True: found and done; no longer a thief.
  bool find(unsigned i) {
    if (take_from(i, i)) return true;
    if (!parking_.visible_work()) return false;
    std::atomic<int>& mine = pieces_[nodes_[i]];
    int n = mine.load(std::memory_order_relaxed);
    if (n > 0 && mine.compare_exchange_strong(n, n - 1, std::memory_order_acq_rel)) {
      parking_.stop_searching(i);
      return true;
    }
    for (unsigned k = 1; k < workers(); ++k) {
      if (take_from((i + k) % workers(), i)) return true;
    }
    return false;
  }

  bool take_from(unsigned box, unsigned i) {
    resumable* const first = inboxes_[box].take_all();
    if (first == nullptr) return false;
    for (resumable* rest = first->next; rest != nullptr;) inboxes_[i].push(std::exchange(rest, rest->next));
    parking_.stop_searching(i);
    parking_.retract();
    auto& e = *static_cast<errand*>(first);
    if (e.generous) share();
    e.done.store(true, std::memory_order_release);
    return true;
  }

  void share() {
    for (auto& p : pieces_) p.store(1, std::memory_order_release);
    parking_.offer();
    for (auto& p : pieces_) {
      while (p.load(std::memory_order_acquire) != 0 && !stopping_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
    parking_.retract();
  }

  std::uint64_t seed_ = chaos_sync::random();
  std::vector<unsigned> nodes_;
  nopal::core::basic_parking<Sync> parking_;
  std::vector<nopal::core::basic_inbox<Sync>> inboxes_;
  std::vector<std::atomic<int>> pieces_;  // by node
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

/// Polls. False after 10 s, which can only be a lost wake-up.
template <class Condition>
bool eventually(Condition&& happened) {
  for (auto const deadline = steady::now() + 10s; !happened(); std::this_thread::yield()) {
    if (steady::now() > deadline) return false;
  }
  return true;
}

struct options {
  std::vector<unsigned> nodes;
  bool generous;     // needs a worker in every node that may steal
  unsigned callers;  // threads that give work
  long rounds;
};

template <class Sync>
void keep_office(options const& o) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  sow(seed, 1000);
  std::atomic<bool> failed{false};
  std::vector<std::vector<errand>> all_errands(o.callers);  // here, since after a failure workers may still have some
  for (auto& errands : all_errands) errands = std::vector<errand>(3);
  office<Sync> office{o.nodes};

  auto const call = [&](unsigned self) {
    sow(seed, 2000 + self);
    rng random{seed, 3000 + self};
    auto& errands = all_errands[self];
    auto const expect = [&](char const* what, auto&& happened) {
      if (eventually([&] { return failed.load(std::memory_order_relaxed) || happened(); })) return;
      failed = true;
      ADD_FAILURE() << what;
    };
    for (long round = 0; round < o.rounds && !failed; ++round) {
      auto const any = [&] { return static_cast<unsigned>(random() % office.workers()); };
      if (o.callers == 1 && random() % 2 == 0) {
        expect("there is nothing to do, but somebody does not sleep", [&] { return office.all_sleep(); });
      }
      std::size_t const n = 1 + random() % errands.size();
      unsigned const lent = any();
      bool const guest = random() % 4 == 0 && office.occupy(lent);
      for (std::size_t k = 0; k < n; ++k) {
        // One generous errand at a time, and not by an external caller, so that some worker of each node is free to take a piece.
        errands[k].generous = o.generous && self == 0 && k == 0 && !guest && random() % 2 == 0;
        office.put(errands[k], guest && random() % 2 == 0 ? lent : any());
      }
      if (guest) office.vacate(lent);
      for (std::size_t k = 0; k < n; ++k) {
        expect(errands[k].generous ? "a strand offers work, but some node has no thief" : "a job lies in an inbox, but all sleep",
               [&] { return errands[k].done.load(std::memory_order_acquire); });
      }
    }
  };
  std::vector<std::thread> callers;
  for (unsigned c = 1; c < o.callers; ++c) callers.emplace_back(call, c);
  call(0);
  for (std::thread& t : callers) t.join();
}

template <class Sync>
struct parking_stress : testing::Test {};

struct names {
  template <class Sync>
  static std::string GetName(int) {
    return std::is_same_v<Sync, std_sync> ? "real" : "chaos";
  }
};
using machines = testing::Types<std_sync, chaos_sync>;
TYPED_TEST_SUITE(parking_stress, machines, names);

TYPED_TEST(parking_stress, a_single_worker_that_is_lent_now_and_then_finds_every_job) {
  keep_office<TypeParam>({.nodes = {0}, .generous = false, .callers = 1, .rounds = test::scaled(20'000, 5)});
}

TYPED_TEST(parking_stress, one_caller_is_served_by_two_nodes_that_sleep_between) {
  keep_office<TypeParam>({.nodes = {0, 0, 1, 1}, .generous = true, .callers = 1, .rounds = test::scaled(10'000, 5)});
}

TYPED_TEST(parking_stress, two_callers_are_served_by_two_nodes) {
  keep_office<TypeParam>({.nodes = {0, 0, 1, 1}, .generous = false, .callers = 2, .rounds = test::scaled(10'000, 5)});
}

}  // namespace
