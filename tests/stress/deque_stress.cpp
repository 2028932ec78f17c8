// The deque under thieves, on the real machine and on one on which threads pause at every shared access.

#include "nopal/core/deque/deque.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/base/random.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::core::rng;
using nopal::core::std_sync;
using steady = std::chrono::steady_clock;

/// Threads stop at random at each point that another thread could observe: mostly a yield, sometimes a pause, seldom a nap. After a second only
/// pauses: there are a million yields in a test, and each takes a time slice where other programs run.
struct chaos_sync : std_sync {
  static inline thread_local rng random{0};
  static inline thread_local steady::time_point leaves_until;

  static void hesitate() noexcept {
    std::uint64_t const r = random();
    if ((r & 31) != 0) return;
    bool const may_leave = steady::now() < leaves_until;
    if (may_leave && (r >> 5 & 7) != 0) {
      std_sync::yield();
    } else if (!may_leave || (r >> 8 & 63) != 0) {
      for (std::uint64_t k = r >> 14 & 255; k != 0; --k) std_sync::relax();
    } else {
      std::this_thread::sleep_for(20us);
    }
  }

  template <class T>
  class atomic {
   public:
    atomic() noexcept = default;
    explicit atomic(T v) noexcept : value_{v} {}
    T load(std::memory_order o) const noexcept {
      hesitate();
      return value_.load(o);
    }
    void store(T v, std::memory_order o) noexcept {
      hesitate();
      value_.store(v, o);
    }
    T exchange(T v, std::memory_order o) noexcept {
      hesitate();
      return value_.exchange(v, o);
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order o, std::memory_order failure) noexcept {
      hesitate();
      return value_.compare_exchange_strong(expected, v, o, failure);
    }

   private:
    std::atomic<T> value_{};
  };

  static void heavy_fence() noexcept {
    hesitate();
    std_sync::heavy_fence();
    hesitate();
  }
};

/// The same machines, with a ring.
struct ring_sync : std_sync {};
struct ring_chaos_sync : chaos_sync {};
template <class Sync>
constexpr bool is_ring = std::is_same_v<Sync, ring_sync> || std::is_same_v<Sync, ring_chaos_sync>;
template <class Sync>
using deque_on = nopal::core::basic_deque<Sync, is_ring<Sync> ? nopal::core::places::ring : nopal::core::places::nested>;

template <class Sync>
void sow(std::uint64_t seed, std::uint64_t stream) noexcept {
  if constexpr (std::is_base_of_v<chaos_sync, Sync>) {
    chaos_sync::random = rng{seed, stream};
    chaos_sync::leaves_until = steady::now() + 1s;
  }
}

std::uint32_t content(std::uintptr_t token) { return static_cast<std::uint32_t>(token * 2'654'435'761u); }

/// One deque and the tokens 1..last that pass through it.
template <class Sync>
struct field {
  using deque = deque_on<Sync>;

  field(typename deque::index capacity, std::uintptr_t last) : work{capacity}, content_of(last + 1), taken(last + 1) {}

  deque work;
  std::uintptr_t pushed = 0;
  std::vector<std::uint32_t> content_of;  // plain: it must arrive with the entry
  std::vector<std::atomic<unsigned char>> taken;
  std::atomic<int> thieves{0};
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> stolen{0};
  std::atomic<unsigned> garbled{0};
  std::atomic<unsigned> disordered{0};

  bool all_pushed() const { return pushed + 1 >= content_of.size(); }
  std::uintptr_t push() {
    std::uintptr_t const token = ++pushed;
    content_of[token] = content(token);
    work.push(token);
    return token;
  }
  void take(std::uintptr_t token) {
    if (token == 0 || token >= taken.size() || content_of[token] != content(token)) {
      garbled.fetch_add(1, std::memory_order_relaxed);
    } else {
      taken[token].fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// False if thieves leave something in the deque for too long.
  bool robbed() const {
    for (auto const deadline = steady::now() + 60s; !work.empty(); std::this_thread::yield()) {
      if (steady::now() > deadline) return false;
    }
    return true;
  }

  void rob(rng random) {
    thieves.fetch_add(1, std::memory_order_relaxed);
    std::uintptr_t newest = 0;
    std::uint64_t count = 0;
    while (!over.load(std::memory_order_acquire)) {
      // What accept sees may be out of date; only what steal returns counts.
      std::uintptr_t const token = work.steal([&](std::uintptr_t) { return random() % 8 != 0; });
      if (token == 0) {
        if (random() % 16 == 0) std::this_thread::yield();
        continue;
      }
      if (token <= newest) disordered.fetch_add(1, std::memory_order_relaxed);
      newest = token;
      take(token);
      ++count;
    }
    stolen.fetch_add(count, std::memory_order_relaxed);
  }

  void expect_each_token_taken_once() const {
    std::uintptr_t lost = 0;
    std::uintptr_t doubled = 0;
    for (std::uintptr_t token = 1; token <= pushed; ++token) {
      unsigned const n = taken[token].load(std::memory_order_relaxed);
      lost += n == 0;
      doubled += n > 1;
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(doubled, 0u);
    EXPECT_EQ(garbled.load(), 0u);
    EXPECT_EQ(disordered.load(), 0u) << "a thief got a newer token before an older one";
  }
};

/// The owner's operations on its deque.
enum class habit {
  busy,        ///< pushes and pops in bursts, looks as a fork does
  deep,        ///< the same, with long bursts, so that a small buffer grows
  last_entry,  ///< pops at once the one entry that it has published
  silent,      ///< pushes and then does not look until everything is gone
  spawning,    ///< pushes, with a few entries left at any time, so that the deque is seldom empty
};

template <class Sync>
class owner {
 public:
  owner(field<Sync>& f, habit h, bool hides, rng random) : field_{f}, work_{f.work}, habit_{h}, hides_{hides}, random_{random} {}

  void run() {
    be_silent();  // so that each round has thefts, however short
    while (!field_.all_pushed() && !testing::Test::HasFailure()) {
      if (work_.empty()) {
        mine_.clear();
        work_.rewind();
      }
      switch (habit_) {
        case habit::busy: burst(8); break;
        case habit::deep: burst(random_() % 16 == 0 ? 300 : 8); break;
        case habit::last_entry: contend(); break;
        case habit::silent: be_silent(); break;
        case habit::spawning: spawn(); break;
      }
    }
    while (!mine_.empty()) pop();
  }

 private:
  void push(bool attentive) {
    mine_.push_back(field_.push());
    if (!hides_ || (attentive && work_.must_poll())) work_.publish();
  }

  void pop() {
    std::uintptr_t const newest = work_.newest();
    if (!work_.pop()) {
      if (random_() % 4 == 0) return work_.unpop();
      if (!work_.pop_slow()) {
        EXPECT_TRUE(work_.empty());
        return mine_.clear();
      }
    }
    EXPECT_EQ(newest, mine_.back());
    field_.take(newest);
    mine_.pop_back();
  }

  void burst(unsigned longest) {
    std::uint64_t const what = random_() % 256;
    auto n = 1 + static_cast<std::int64_t>(random_() % longest);
    if (what == 0) {
      for (auto const end = steady::now() + 20us; steady::now() < end;) Sync::relax();  // a long leaf
    } else if (what < 8) {
      work_.publish_all();
    } else if (what < 120 && mine_.size() < 400) {
      bool const attentive = what % 4 != 0;
      work_.ensure_room(n);
      for (; n != 0 && !field_.all_pushed(); --n) push(attentive);
    } else {
      // Now and then back to the bottom: an entry's place is the depth of its fork, and only an empty deque rewinds.
      if (what < 140) n = static_cast<std::int64_t>(mine_.size());
      for (; n > 0 && !mine_.empty(); --n) pop();
    }
  }

  void contend() {
    work_.ensure_room(1);
    push(false);
    work_.publish_all();
    for (std::uint64_t k = random_() % 64; k != 0; --k) Sync::relax();
    while (!mine_.empty()) pop();
  }

  void spawn() {
    if (work_.must_grow()) work_.ensure_room(1);
    push(true);
    // On a loaded machine thieves may be late: a ring grows only if no thief ever arrives, and no wait is long.
    auto const offered = [&] { return work_.bottom() - work_.oldest(); };
    for (auto const end = steady::now() + 100us; offered() > 6 && (offered() > 32 || steady::now() < end);) {
      Sync::relax();
      std::this_thread::yield();
    }
    if (mine_.size() > 64) {  // those that thieves have surely taken
      mine_.erase(mine_.begin(), mine_.end() - std::min<std::ptrdiff_t>(std::ssize(mine_), work_.bottom() - work_.oldest()));
    }
    if (random_() % 64 == 0 && !mine_.empty()) pop();
  }

  void be_silent() {
    auto n = 1 + static_cast<std::int64_t>(random_() % 16);
    work_.ensure_room(n);
    for (; n != 0 && !field_.all_pushed(); --n) push(false);
    EXPECT_TRUE(field_.robbed()) << "for a minute thieves leave what a silent owner has";
    mine_.clear();
  }

  field<Sync>& field_;
  typename field<Sync>::deque& work_;
  habit habit_;
  bool hides_;
  rng random_;
  std::vector<std::uintptr_t> mine_;  // what the deque holds if nothing was stolen
};

struct setting {
  int thieves;
  bool hides;
  habit owner;
  long rounds;  // a new deque in each
  std::uintptr_t tokens;
};

template <class Sync>
void play(setting const& s) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed) + ", thieves " + std::to_string(s.thieves));
  if (s.hides && !nopal::core::heavy_fence_available()) GTEST_SKIP() << "no membarrier on this machine";

  std::unique_ptr<field<Sync>> now;
  std::barrier begin{s.thieves + 1};
  std::barrier end{s.thieves + 1};
  std::vector<std::thread> thieves;
  for (int i = 0; i < s.thieves; ++i) {
    thieves.emplace_back([&, i] {
      rng random{seed, static_cast<std::uint64_t>(i) + 1};
      sow<Sync>(seed, static_cast<std::uint64_t>(i) + 100);
      for (;;) {
        begin.arrive_and_wait();
        if (now == nullptr) return;
        now->rob(rng{random()});
        end.arrive_and_wait();
      }
    });
  }
  rng random{seed};
  sow<Sync>(seed, 99);
  std::uint64_t stolen = 0;
  for (long round = 0; round < s.rounds && !testing::Test::HasFailure(); ++round) {
    now = std::make_unique<field<Sync>>(2 << random() % 3, s.tokens);
    if (s.hides) {
      now->work.set_limit(0);
    } else {
      now->work.hide_nothing();
    }
    begin.arrive_and_wait();
    while (now->thieves.load(std::memory_order_relaxed) < s.thieves) std::this_thread::yield();
    owner<Sync>{*now, s.owner, s.hides, rng{random()}}.run();
    now->over.store(true, std::memory_order_release);
    end.arrive_and_wait();
    now->expect_each_token_taken_once();
    bool const slides = is_ring<Sync> && s.owner == habit::spawning;
    EXPECT_TRUE(!slides || now->work.capacity() <= 64) << "a ring grew, though little is in it";
    stolen += now->stolen.load();
  }
  now = nullptr;
  begin.arrive_and_wait();
  for (std::thread& t : thieves) t.join();
  EXPECT_GT(stolen, 0u);
}

template <class Sync>
struct deque_stress : testing::Test {};

struct names {
  template <class Sync>
  static std::string GetName(int) {
    return std::string{std::is_base_of_v<chaos_sync, Sync> ? "chaos" : "real"} + (is_ring<Sync> ? "_ring" : "");
  }
};
using machines = testing::Types<std_sync, chaos_sync, ring_sync, ring_chaos_sync>;
TYPED_TEST_SUITE(deque_stress, machines, names);

// Each about 10^6 pushes and as many pops or thefts.

TYPED_TEST(deque_stress, one_thief_takes_each_entry_at_most_once) {
  play<TypeParam>({.thieves = 1, .hides = true, .owner = habit::busy, .rounds = 20, .tokens = test::scaled(50'000, 5)});
}

TYPED_TEST(deque_stress, two_thieves_take_each_entry_at_most_once) {
  play<TypeParam>({.thieves = 2, .hides = true, .owner = habit::busy, .rounds = 20, .tokens = test::scaled(50'000, 5)});
}

TYPED_TEST(deque_stress, three_thieves_take_each_entry_at_most_once) {
  play<TypeParam>({.thieves = 3, .hides = true, .owner = habit::busy, .rounds = 20, .tokens = test::scaled(50'000, 5)});
}

TYPED_TEST(deque_stress, nothing_is_lost_where_nothing_is_hidden) {
  play<TypeParam>({.thieves = 2, .hides = false, .owner = habit::busy, .rounds = 20, .tokens = test::scaled(50'000, 5)});
}

TYPED_TEST(deque_stress, nothing_is_lost_while_the_buffer_grows) {
  play<TypeParam>({.thieves = 2, .hides = true, .owner = habit::deep, .rounds = test::scaled(400, 5), .tokens = 2'500});
}

TYPED_TEST(deque_stress, the_last_entry_goes_to_the_owner_or_to_one_thief) {
  play<TypeParam>({.thieves = 2, .hides = true, .owner = habit::last_entry, .rounds = 20, .tokens = test::scaled(50'000, 5)});
}

TYPED_TEST(deque_stress, thieves_get_everything_from_an_owner_that_never_answers) {
  play<TypeParam>({.thieves = 2, .hides = true, .owner = habit::silent, .rounds = 10, .tokens = test::scaled(2'000, 5)});
}

TYPED_TEST(deque_stress, thieves_get_everything_that_was_offered_without_a_heavy_fence) {
  play<TypeParam>({.thieves = 2, .hides = false, .owner = habit::silent, .rounds = 10, .tokens = test::scaled(20'000, 5)});
}

TYPED_TEST(deque_stress, an_owner_that_adds_while_thieves_take) {
  play<TypeParam>({.thieves = 2, .hides = true, .owner = habit::spawning, .rounds = 10, .tokens = test::scaled(20'000, 5)});
}

}  // namespace
