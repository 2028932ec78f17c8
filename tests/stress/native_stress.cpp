// Random programs of ordinary functions and coroutines that fork in each other, and throw, compared with their serial run.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../mix.hpp"
#include "../scale.hpp"
#include "nopal/native.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::parallel_invoke;
using nopal::sync_wait;
using nopal::task;

using test::mix;

struct thrown {
  std::uint64_t by;
};

/// Exceptions that are alive, and bodies that have begun and not ended.
std::atomic<long> alive{0};
struct counted {
  counted() { ++alive; }
  counted(counted const&) = delete;
  counted& operator=(counted const&) = delete;
  ~counted() { --alive; }
};

/// One in `rarely` nodes throws before its children, as many after them.
void may_throw(std::uint64_t node, std::uint64_t salt, std::uint64_t rarely) {
  if (rarely != 0 && mix(node ^ salt) % rarely == 0) throw thrown{node};
}

std::uint64_t child(std::uint64_t node, std::uint64_t k) { return mix(node * 3 + k); }
std::uint64_t joined(std::uint64_t node, std::uint64_t a, std::uint64_t b) { return mix(node + 3 * a + 5 * b); }

std::uint64_t serial(std::uint64_t node, int depth, std::uint64_t rarely) {
  may_throw(node, 1, rarely);
  if (depth == 0) return node;
  std::uint64_t const a = serial(child(node, 0), depth - 1, rarely);
  std::uint64_t const b = serial(child(node, 1), depth - 1, rarely);
  may_throw(node, 2, rarely);
  return joined(node, a, b);
}

std::uint64_t natively(std::uint64_t node, int depth, std::uint64_t rarely);

task<std::uint64_t> by_tasks(std::uint64_t node, int depth, std::uint64_t rarely) {
  counted const here;
  may_throw(node, 1, rarely);
  if (depth == 0) co_return node;
  std::uint64_t a = 0, b = 0;
  auto const kind = mix(node) % 4;
  if (kind == 0) {  // this one's ordinary half forks natively
    a = natively(child(node, 0), depth - 1, rarely);
    b = co_await nopal::call(by_tasks, child(node, 1), depth - 1, rarely);
  } else if (kind == 1) {  // this one forks its own native stack
    nopal::scope s;
    s.fork([&] { a = natively(child(node, 0), depth - 1, rarely); });
    s.fork([&] { b = sync_wait(by_tasks, child(node, 1), depth - 1, rarely); });
    s.join();
  } else {
    co_await nopal::fork(&a, by_tasks, child(node, 0), depth - 1, rarely);
    co_await nopal::fork(&b, by_tasks, child(node, 1), depth - 1, rarely);
    co_await nopal::join;
  }
  may_throw(node, 2, rarely);
  co_return joined(node, a, b);
}

std::uint64_t natively(std::uint64_t node, int depth, std::uint64_t rarely) {
  counted const here;
  may_throw(node, 1, rarely);
  if (depth == 0) return node;
  std::uint64_t a = 0, b = 0;
  auto const first = [&] { a = natively(child(node, 0), depth - 1, rarely); };
  auto const second = [&] { b = sync_wait(by_tasks, child(node, 1), depth - 1, rarely); };
  auto const second_natively = [&] { b = natively(child(node, 1), depth - 1, rarely); };
  switch (mix(node) % 7) {
    case 0: parallel_invoke(first, second); break;
    case 1: try { throw counted{};
      } catch (counted const&) {  // forks with a handler active
        parallel_invoke(first, second_natively);
      }
      break;
    case 2: {
      nopal::scope s;
      s.fork(first);
      s.fork(second);
      s.join();
      break;
    }
    case 3: {
      nopal::scope s;  // joined by its destructor
      s.fork(first);
      s.fork(second_natively);
      break;
    }
    case 4: try { throw counted{};
      } catch (counted const&) {
        nopal::scope s;
        s.fork(first);
        s.fork(second_natively);
        s.join();
      }
      break;
    default: parallel_invoke(first, second_natively); break;
  }
  may_throw(node, 2, rarely);
  return joined(node, a, b);
}

/// The result, or the node that threw.
template <class F>
std::uint64_t outcome(F f) {
  try {
    return f();
  } catch (thrown const& e) {
    return ~e.by;
  }
}

class native_stress : public testing::TestWithParam<unsigned> {};

TEST_P(native_stress, programs_are_those_of_the_serial_run) {
  for (auto const how : {nopal::reclaim::dontneed, nopal::reclaim::none}) {
    nopal::pool pool{{.workers = GetParam(), .reclaim = how}};
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(10'000, 100)); ++seed) {
      std::uint64_t const root = mix(seed), rarely = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 20 : 200;
      int const depth = 3 + static_cast<int>(seed % 5);
      std::uint64_t const right = outcome([&] { return serial(root, depth, rarely); });
      ASSERT_EQ(outcome([&] { return pool.run(natively, root, depth, rarely); }), right) << seed;
      ASSERT_EQ(outcome([&] { return pool.run(by_tasks, root, depth, rarely); }), right) << seed;
      ASSERT_EQ(alive.load(), 0) << seed;
    }
  }
}

TEST_P(native_stress, programs_from_several_threads_at_once) {
  nopal::pool pool{{.workers = GetParam()}};
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(500, 20)); ++seed) {
        std::uint64_t const root = mix(1000 * t + seed);
        std::uint64_t const right = outcome([&] { return serial(root, 6, 100); });
        auto later = pool.submit(natively, root, 6, std::uint64_t{100});
        wrong += outcome([&] { return pool.run(natively, root, 6, std::uint64_t{100}); }) != right;
        wrong += outcome([&] { return later.get(); }) != right;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, native_stress, testing::Values(1u, 2u, 3u, 8u), testing::PrintToStringParamName());

}  // namespace
