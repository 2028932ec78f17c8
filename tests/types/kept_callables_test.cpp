// All that can be called without arguments is accepted by all that keep a callable: scope::fork, spawn, and the ways into a pool.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "../callables.hpp"
#include "nopal/nopal.hpp"

namespace {

using callables::calls;
using callables::damaged;

template <class Specimen>
class KeptCallables : public callables::fixture<Specimen> {};
TYPED_TEST_SUITE(KeptCallables, callables::all);

#define GIVEN std::forward<decltype(f)>(f)

TYPED_TEST(KeptCallables, ScopeForks) {
  if constexpr (TypeParam::by_value) {
    auto const fork = [](auto&& f) {
      nopal::scope s;
      s.fork(GIVEN);
      s.join();
    };
    this->on_pool(fork);
    this->expect(1);
    TypeParam::give(fork);  // off a pool
    this->expect(1);
  }
}

TYPED_TEST(KeptCallables, Fibers) {
  if constexpr (TypeParam::by_value && TypeParam::for_fibers) {
    auto const spawn = [](auto&& f) {
      nopal::counter left;
      nopal::spawn(left, GIVEN);
      nopal::wait_for(left);
    };
    this->on_pool(spawn);
    this->expect(1);
    TypeParam::give(spawn);  // off a pool
    this->expect(1);
    TypeParam::give([this](auto&& f) {
      nopal::counter left;
      this->pool_.spawn(left, GIVEN);
      nopal::wait_for(left);
    });
    this->expect(1);
    this->on_pool([](auto&& f) {
      nopal::spawn(GIVEN);
      while (calls == 0) nopal::yield();
    });
    this->expect(1);
  }
}

TYPED_TEST(KeptCallables, PoolRuns) {
  if constexpr (!TypeParam::drops) {
    TypeParam::give([this](auto&& f) { static_cast<void>(this->pool_.run(GIVEN)); });
    this->expect(1);
    TypeParam::give([](auto&& f) { static_cast<void>(nopal::sync_wait(GIVEN)); });
    this->expect(1);
    this->on_pool([](auto&& f) { static_cast<void>(nopal::sync_wait(GIVEN)); });
    this->expect(1);
  }
}

TYPED_TEST(KeptCallables, PoolKeeps) {
  if constexpr (TypeParam::by_value && !TypeParam::drops) {
    TypeParam::give([this](auto&& f) { static_cast<void>(this->pool_.submit(GIVEN).get()); });
    this->expect(1);
    TypeParam::give([this](auto&& f) {
      this->pool_.detach(GIVEN);
      while (calls == 0) std::this_thread::yield();
    });
    this->expect(1);
  }
}

/// One of its copies or moves throws. Nothing is lost then, and nothing is called twice.
struct fragile {
  static inline std::atomic<int> left{0};
  static void count() {
    if (--left == 0) throw 7;
  }
  fragile() = default;
  fragile(fragile const&) { count(); }
  fragile(fragile&&) { count(); }
};

/// Calls use(closure) for each k; the k-th move of the captures throws.
template <class Use>
void with_fragile(Use use) {
  for (int k = 1; k < 6; ++k) {
    auto f = [first = std::make_shared<int>(3), second = fragile{}, third = std::make_shared<int>(4)] {
      callables::called(*first == 3 && *third == 4);
    };
    fragile::left = k;
    calls = damaged = 0;
    int thrown = 0;
    try {
      use(f);
    } catch (int e) {
      thrown = e == 7 ? 1 : 2;
    }
    EXPECT_EQ(thrown, fragile::left <= 0 ? 1 : 0) << k;
    EXPECT_EQ(calls, 1 - thrown) << k;
    EXPECT_EQ(damaged, 0);
    fragile::left = 0;
  }
}

TEST(kept_callables, whose_copies_throw) {
  nopal::pool pool{{.workers = 2}};
  with_fragile([&](auto& f) { pool.run(f); });
  with_fragile([&](auto& f) { pool.run([&] { nopal::parallel_invoke([] {}, std::move(f)); }); });
  with_fragile([&](auto& f) {
    pool.run([&] {
      nopal::scope s;
      s.fork(f);
      s.join();
    });
  });
  with_fragile([&](auto& f) {
    nopal::scope s;
    s.fork(f);
    s.join();
  });
  with_fragile([&](auto& f) { pool.submit(f).get(); });
  with_fragile([&](auto& f) {
    nopal::counter left;
    nopal::spawn(left, f);
    nopal::wait_for(left);
  });
  with_fragile([&](auto& f) {
    pool.run([&] {
      nopal::counter left;
      nopal::spawn(left, f);
      nopal::wait_for(left);
    });
  });
  with_fragile([&](auto& f) {
    pool.detach(f);
    while (calls == 0) std::this_thread::yield();
  });
}

}  // namespace
