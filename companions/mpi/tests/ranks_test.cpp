// Two ranks that send each other messages, from everything that can wait. Both run all cases in the same order. More ranks are pairs: each has
// a communicator of its own. The environment says the thread level: NOPAL_MPI_TEST_THREADS, one of MPI's names without MPI_THREAD_; and
// NOPAL_MPI_TEST_UNSERVED, that pools get no event source.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mpi.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

namespace mpi = nopal::mpi;
using namespace std::chrono_literals;

thread_local int testsomes = 0, improbes = 0;  // how often this thread has called them, see below
// Of the functions that explain an error: how often they were called, and how often where MPI must not be called.
std::atomic<int> explained{0}, explained_elsewhere{0};
std::atomic<bool> another_is_in_mpi{false};
std::thread::id thread_of_session;  // where all calls of MPI must be if it is funnelled

mpi::session* session = nullptr;
MPI_Comm world = MPI_COMM_NULL;  // of two ranks
int me() { return session->rank() % 2; }
int peer() { return 1 - me(); }

nopal::pool_options kind_of_pool(int k) {
  switch (k) {
    case 0: return {.workers = 1};
    case 1: return {.workers = 2};
    case 2: return {.workers = 2, .experimental = {.steal = false}};
    default: return {.workers = 2, .resume = nopal::resume::home};
  }
}
struct ranks : testing::TestWithParam<int> {
  nopal::pool pool{kind_of_pool(GetParam())};
};
struct two_ranks : testing::Test {
  nopal::pool pool{{.workers = 2}};
};
INSTANTIATE_TEST_SUITE_P(pools, ranks, testing::Range(0, 4));

// Sends `x` to the other rank and returns what that sends.
int exchange(int x, int tag) {
  int y = -1;
  if (me() == 0) {
    mpi::send(&x, 1, MPI_INT, 1, tag, world);
    mpi::recv(&y, 1, MPI_INT, 1, tag, world);
  } else {
    mpi::recv(&y, 1, MPI_INT, 0, tag, world);
    mpi::send(&x, 1, MPI_INT, 0, tag, world);
  }
  return y;
}

// Each strand waits for one of the other rank, in another order than there: a worker that blocked would never get to the one it waits for.
TEST_P(ranks, wait_for_each_other_in_a_thousand_fibers) {
  constexpr int n = 1000;
  std::atomic<long> sum{0};
  pool.run([&] {
    nopal::counter fibers;
    for (int k = 0; k < n; ++k) {
      int const tag = me() == 0 ? k : n - 1 - k;
      nopal::spawn(fibers, [&sum, tag] { sum += exchange(tag, tag); });
    }
    nopal::wait_for(fibers);
  });
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

nopal::task<void> exchanging_task(std::atomic<int>& sum, int first, int n) {
  if (n == 1) {
    sum += exchange(first, first);
    co_return;
  }
  co_await nopal::fork(exchanging_task, std::ref(sum), first, n / 2);
  co_await nopal::call(exchanging_task, std::ref(sum), first + n / 2, n - n / 2);
  co_await nopal::join;
}
void exchanging_function(std::atomic<int>& sum, int first, int n) {
  if (n == 1) {
    sum += exchange(first, first);
    return;
  }
  nopal::parallel_invoke([&] { exchanging_function(sum, first, n / 2); }, [&] { exchanging_function(sum, first + n / 2, n - n / 2); });
}

TEST_P(ranks, exchange_from_tasks) {
  std::atomic<int> sum{0};
  pool.run(exchanging_task, std::ref(sum), 0, 20);
  EXPECT_EQ(sum, 190);
}
TEST_P(ranks, exchange_from_functions) {
  std::atomic<int> sum{0};
  pool.run([&] { exchanging_function(sum, 0, 20); });
  EXPECT_EQ(sum, 190);
}
TEST_F(two_ranks, exchange_from_threads_off_the_pool) {
  std::atomic<int> sum{exchange(0, 0)};
  std::vector<std::jthread> threads;
  for (int k = 1; k < 4; ++k) {
    threads.emplace_back([&sum, k] { sum += exchange(k, k); });
  }
  threads.clear();
  EXPECT_EQ(sum, 6);
}

// ---- Each function, beside MPI's own.

struct numbers {
  std::vector<int> own = std::vector<int>(4), expected = std::vector<int>(8, -1), got = std::vector<int>(8, -1);
  numbers() { std::iota(own.begin(), own.end(), 10 * me() + 1); }
};
// `with` is called with MPI's functions in `mpi::call`, then `in` with nopal's: both fill their vector.
template <class With, class In>
void same(With with, In in) {
  numbers n;
  EXPECT_EQ(mpi::call([&] { return with(n.own.data(), n.expected.data()); }), MPI_SUCCESS);
  in(n.own.data(), n.got.data());
  EXPECT_EQ(n.got, n.expected);
}

TEST_P(ranks, do_what_mpi_does) {
  pool.run([] {
    std::array const ones{1, 1}, twos{2, 2}, none_and_two{0, 2};
    for (int root = 0; root < 2; ++root) {
      same([=](int* a, int* b) { return std::copy_n(a, 4, b), MPI_Bcast(b, 4, MPI_INT, root, world); },
           [=](int* a, int* b) { std::copy_n(a, 4, b), mpi::bcast(b, 4, MPI_INT, root, world); });
      same([=](int* a, int* b) { return MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, root, world); },
           [=](int* a, int* b) { mpi::reduce(a, b, 4, MPI_INT, MPI_SUM, root, world); });
      same([=](int* a, int* b) { return MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, root, world); },
           [=](int* a, int* b) { mpi::gather(a, 2, MPI_INT, b, 2, MPI_INT, root, world); });
      same([&](int* a, int* b) { return MPI_Gatherv(a, 2, MPI_INT, b, twos.data(), none_and_two.data(), MPI_INT, root, world); },
           [&](int* a, int* b) { mpi::gatherv(a, 2, MPI_INT, b, twos.data(), none_and_two.data(), MPI_INT, root, world); });
      same([=](int* a, int* b) { return MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, root, world); },
           [=](int* a, int* b) { mpi::scatter(a, 2, MPI_INT, b, 2, MPI_INT, root, world); });
      same([&](int* a, int* b) { return MPI_Scatterv(a, twos.data(), none_and_two.data(), MPI_INT, b, 2, MPI_INT, root, world); },
           [&](int* a, int* b) { mpi::scatterv(a, twos.data(), none_and_two.data(), MPI_INT, b, 2, MPI_INT, root, world); });
    }
    same([](int* a, int* b) { return MPI_Allreduce(a, b, 4, MPI_INT, MPI_MAX, world); },
         [](int* a, int* b) { mpi::allreduce(a, b, 4, MPI_INT, MPI_MAX, world); });
    same([&](int* a, int* b) { return MPI_Reduce_scatter(a, b, twos.data(), MPI_INT, MPI_SUM, world); },
         [&](int* a, int* b) { mpi::reduce_scatter(a, b, twos.data(), MPI_INT, MPI_SUM, world); });
    same([](int* a, int* b) { return MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, world); },
         [](int* a, int* b) { mpi::reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, world); });
    same([](int* a, int* b) { return MPI_Scan(a, b, 4, MPI_INT, MPI_PROD, world); },
         [](int* a, int* b) { mpi::scan(a, b, 4, MPI_INT, MPI_PROD, world); });
    same([](int* a, int* b) { return MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, world); },
         [](int* a, int* b) { mpi::exscan(a, b, 4, MPI_INT, MPI_SUM, world); });
    same([](int* a, int* b) { return MPI_Allgather(a, 4, MPI_INT, b, 4, MPI_INT, world); },
         [](int* a, int* b) { mpi::allgather(a, 4, MPI_INT, b, 4, MPI_INT, world); });
    same([&](int* a, int* b) { return MPI_Allgatherv(a, 2, MPI_INT, b, twos.data(), none_and_two.data(), MPI_INT, world); },
         [&](int* a, int* b) { mpi::allgatherv(a, 2, MPI_INT, b, twos.data(), none_and_two.data(), MPI_INT, world); });
    same([](int* a, int* b) { return MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, world); },
         [](int* a, int* b) { mpi::alltoall(a, 2, MPI_INT, b, 2, MPI_INT, world); });
    same(
        [&](int* a, int* b) {
          return MPI_Alltoallv(a, ones.data(), none_and_two.data(), MPI_INT, b, ones.data(), none_and_two.data(), MPI_INT, world);
        },
        [&](int* a, int* b) {
          mpi::alltoallv(a, ones.data(), none_and_two.data(), MPI_INT, b, ones.data(), none_and_two.data(), MPI_INT, world);
        });
    same([](int* a, int* b) { return MPI_Sendrecv(a, 4, MPI_INT, peer(), 3, b, 8, MPI_INT, peer(), 3, world, MPI_STATUS_IGNORE); },
         [](int* a, int* b) {
           MPI_Status s;
           mpi::sendrecv(a, 4, MPI_INT, peer(), 3, b, 8, MPI_INT, peer(), 3, world, &s);
           EXPECT_EQ(s.MPI_SOURCE, peer());
           EXPECT_EQ(s.MPI_TAG, 3);
         });
    mpi::barrier(world);
  });
}

// A message that is larger than what libraries send before the receiver is there.
TEST_P(ranks, probe_and_send_in_each_mode) {
  pool.run([] {
    std::vector<int> large(100'000, me());
    if (me() == 0) {
      mpi::ssend(large.data(), 100'000, MPI_INT, 1, 7, world);
      mpi::send(large.data(), 1, MPI_INT, 1, 8, world);
      int ready = 0;
      mpi::recv(&ready, 0, MPI_INT, 1, 9, world);
      mpi::rsend(large.data(), 1, MPI_INT, 1, 10, world);
      return;
    }
    MPI_Status s;
    MPI_Message message;
    int n = 0, one = -1;
    mpi::mprobe(MPI_ANY_SOURCE, 7, world, &message, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    EXPECT_EQ(n, 100'000);
    mpi::mrecv(large.data(), n, MPI_INT, &message);
    EXPECT_EQ(std::ranges::count(large, 0), n);
    mpi::probe(0, MPI_ANY_TAG, world, &s);
    EXPECT_EQ(s.MPI_TAG, 8);
    mpi::recv(&one, 1, MPI_INT, 0, 8, world);
    EXPECT_EQ(one, 0);
    MPI_Request r;
    mpi::call([&] { MPI_Irecv(&one, 1, MPI_INT, 0, 10, world, &r); });
    mpi::send(&n, 0, MPI_INT, 0, 9, world);
    mpi::wait(r);
    EXPECT_EQ(one, 0);
  });
}

// ---- Requests of the program.

TEST_P(ranks, wait_for_all_and_any) {
  pool.run([] {
    constexpr std::size_t n = 20;
    std::array<int, n> in{}, out{};
    std::iota(out.begin(), out.end(), 0);
    std::array<MPI_Request, 2 * n> requests{};
    auto const begin = [&] {
      mpi::call([&] {
        for (std::size_t k = 0; k < n; ++k) {
          MPI_Irecv(&in[k], 1, MPI_INT, peer(), static_cast<int>(k), world, &requests[k]);
          MPI_Isend(&out[k], 1, MPI_INT, peer(), static_cast<int>(k), world, &requests[n + k]);
        }
      });
    };
    begin();
    std::array<MPI_Status, 2 * n> statuses{};
    mpi::wait_all(requests, statuses);
    EXPECT_EQ(in, out);
    for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(statuses[k].MPI_TAG, static_cast<int>(k));
    EXPECT_EQ(std::ranges::count(requests, MPI_REQUEST_NULL), 2 * static_cast<long>(n));

    in.fill(-1);
    begin();
    std::array<int, 2 * n> times{};
    MPI_Status s;
    for (int k; (k = mpi::wait_any(requests, &s)) != MPI_UNDEFINED;) {
      auto const at = static_cast<std::size_t>(k);
      ++times[at];
      EXPECT_EQ(requests[at], MPI_REQUEST_NULL);
      if (at < n) {
        EXPECT_EQ(s.MPI_TAG, k);
        EXPECT_EQ(in[at], k);
      }
    }
    EXPECT_EQ(std::ranges::count(times, 1), 2 * static_cast<long>(n));
    EXPECT_EQ(in, out);
  });
}

// The one that is waited for is not the one that comes: the others stay.
TEST_P(ranks, leave_the_other_requests_of_wait_any) {
  pool.run([] {
    std::array<MPI_Request, 2> requests{};
    std::array<int, 2> in{-1, -1};
    int const x = 5;
    if (me() == 0) {
      mpi::call([&] {
        for (std::size_t k = 0; k < 2; ++k) MPI_Irecv(&in[k], 1, MPI_INT, 1, static_cast<int>(k), world, &requests[k]);
      });
      mpi::barrier(world);
      EXPECT_EQ(mpi::wait_any(requests), 1);
      EXPECT_NE(requests[0], MPI_REQUEST_NULL);
      mpi::send(&x, 1, MPI_INT, 1, 2, world);
      mpi::wait(requests[0]);
      EXPECT_EQ(in, (std::array{5, 5}));
    } else {
      int go;
      mpi::barrier(world);
      mpi::send(&x, 1, MPI_INT, 0, 1, world);
      mpi::recv(&go, 1, MPI_INT, 0, 2, world);
      mpi::send(&x, 1, MPI_INT, 0, 0, world);
    }
  });
}

TEST_P(ranks, use_null_and_persistent_requests) {
  pool.run([] {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status s;
    mpi::wait(none, &s);
    EXPECT_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
    mpi::wait_all({});
    EXPECT_EQ(mpi::wait_any({}), MPI_UNDEFINED);
    std::array<MPI_Request, 3> nulls{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 3> statuses{};
    mpi::wait_all(nulls, statuses);
    EXPECT_EQ(statuses[2].MPI_TAG, MPI_ANY_TAG);
    EXPECT_EQ(mpi::wait_any(nulls), MPI_UNDEFINED);
    EXPECT_THROW(mpi::wait_all(nulls, std::span{statuses}.first(2)), std::invalid_argument);
    EXPECT_THROW(mpi::wait_any(nulls, &s, mpi::on_stop::cancel), std::invalid_argument);

    int in = -1, out = 0;
    std::array<MPI_Request, 2> both{};
    mpi::call([&] {
      MPI_Recv_init(&in, 1, MPI_INT, peer(), 0, world, &both[0]);
      MPI_Send_init(&out, 1, MPI_INT, peer(), 0, world, &both[1]);
    });
    mpi::wait_all(both);  // inactive
    for (out = 1; out < 20; ++out) {
      mpi::call([&] { MPI_Startall(2, both.data()); });
      if (out % 2 == 0) {
        mpi::wait(both[0]);
        mpi::wait(both[1]);
      } else {
        mpi::wait_all(both);
      }
      EXPECT_NE(both[0], MPI_REQUEST_NULL);
      EXPECT_EQ(in, out);
    }
    mpi::call([&] { MPI_Request_free(&both[0]), MPI_Request_free(&both[1]); });
  });
}

// ---- Stopping.

// The receive is cancelled: the message that comes later is another's.
TEST_P(ranks, stop_a_receive) {
  int x = -1;
  if (me() == 0) {
    std::stop_source stop;
    nopal::counter begun{1};
    auto received = pool.submit(stop.get_token(), [&] {
      begun.done();
      mpi::recv(&x, 1, MPI_INT, 1, 0, world);
    });
    nopal::wait_for(begun);
    stop.request_stop();
    EXPECT_THROW(received.get(), nopal::stopped);
    EXPECT_EQ(x, -1);
  }
  mpi::barrier(world);
  int const y = 6;
  me() == 0 ? mpi::recv(&x, 1, MPI_INT, 1, 0, world) : mpi::send(&y, 1, MPI_INT, 0, 0, world);
  if (me() == 0) {
    EXPECT_EQ(x, 6);
  }
}

TEST_P(ranks, end_waits_at_a_deadline) {
  pool.run([] {
    if (me() == 0) {
      int x = -1;
      MPI_Request r;
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::recv(&x, 1, MPI_INT, 1, 0, world); }), nopal::stopped);
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::probe(1, 0, world); }), nopal::stopped);
      mpi::call([&] { MPI_Irecv(&x, 1, MPI_INT, 1, 0, world, &r); });
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::wait(r, MPI_STATUS_IGNORE, mpi::on_stop::leave); }), nopal::stopped);
      EXPECT_NE(r, MPI_REQUEST_NULL);
      std::array<MPI_Request, 2> some{r, MPI_REQUEST_NULL};
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::wait_any(some, MPI_STATUS_IGNORE, mpi::on_stop::leave); }), nopal::stopped);
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::wait_all(some, {}, mpi::on_stop::leave); }), nopal::stopped);
      EXPECT_EQ(some[0], r);
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::wait_all(some, {}, mpi::on_stop::cancel); }), nopal::stopped);
      EXPECT_EQ(some[0], MPI_REQUEST_NULL);
      mpi::call([&] { MPI_Irecv(&x, 1, MPI_INT, 1, 0, world, &r); });
      EXPECT_THROW(nopal::with_time_limit(2ms, [&] { mpi::wait(r, MPI_STATUS_IGNORE, mpi::on_stop::cancel); }), nopal::stopped);
      EXPECT_EQ(r, MPI_REQUEST_NULL);
    }
    mpi::barrier(world);
  });
}

// What the other rank counts on goes on: here the barrier, and a send for which nobody has a receive yet.
TEST_P(ranks, go_on_with_what_cannot_be_cancelled) {
  pool.run([] {
    std::vector<int> large(100'000, 1);
    if (me() == 0) {
      std::stop_source stop;
      stop.request_stop();
      nopal::with_stop(stop.get_token(), [&] {
        mpi::ssend(large.data(), 100'000, MPI_INT, 1, 0, world);
        EXPECT_TRUE(nopal::stop_requested());
        mpi::barrier(world);
      });
    } else {
      mpi::recv(large.data(), 100'000, MPI_INT, 0, 0, world);
      mpi::barrier(world);
    }
  });
}

// Stops come while messages do: each is received once, by the one that is stopped or by the one that asks again.
TEST_P(ranks, lose_no_message_to_a_stop) {
  pool.run([] {
    for (int k = 0; k < 50; ++k) {
      if (me() == 1) {
        mpi::send(&k, 1, MPI_INT, 0, 0, world);
        mpi::recv(nullptr, 0, MPI_INT, 0, 1, world);
        continue;
      }
      int x = -1;
      for (int tries = 0; x < 0; ++tries) {
        auto const limit = tries < 3 ? std::chrono::microseconds{20 * (k % 10)} : std::chrono::microseconds{1min};
        try {
          nopal::with_time_limit(limit, [&] { mpi::recv(&x, 1, MPI_INT, 1, 0, world); });
        } catch (nopal::stopped const&) {
          EXPECT_EQ(x, -1);
        }
      }
      EXPECT_EQ(x, k);
      mpi::send(nullptr, 0, MPI_INT, 1, 1, world);
    }
  });
}

// ---- Errors.

template <class F>
mpi::error error_of(F f) {
  try {
    f();
  } catch (mpi::error const& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return {"", MPI_SUCCESS};
}

TEST_P(ranks, throw_what_mpi_returns) {
  pool.run([] {
    int x = 0;
    auto const invalid = error_of([&] { mpi::send(&x, 1, MPI_INT, 2, 0, world); });
    EXPECT_EQ(invalid.error_class(), MPI_ERR_RANK);
    EXPECT_STREQ(invalid.call(), "MPI_Send");
    EXPECT_NE(std::string{invalid.what()}.find("nopal: MPI_Send: "), std::string::npos) << invalid.what();
    EXPECT_GT(std::string{invalid.what()}.size(), std::string{"nopal: MPI_Send: "}.size());
    EXPECT_EQ(error_of([&] { mpi::probe(2, 0, world); }).error_class(), MPI_ERR_RANK);
    EXPECT_EQ(error_of([&] { mpi::bcast(&x, 1, MPI_INT, 2, world); }).call(), std::string{"MPI_Bcast"});
    EXPECT_EQ(error_of([&] { mpi::sendrecv(&x, 1, MPI_INT, 2, 0, &x, 1, MPI_INT, peer(), 5, world); }).error_class(), MPI_ERR_RANK);
    mpi::barrier(world);
  });
}

// Another thread is in MPI when the error is made, and for a while.
TEST_P(ranks, ask_for_the_text_of_an_error_where_mpi_may_be_called) {
  if (session->threads() == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "it may be called anywhere";
  std::jthread const other{[] {
    mpi::call([] {
      another_is_in_mpi = true;
      std::this_thread::sleep_for(20ms);
      another_is_in_mpi = false;
    });
  }};
  while (!another_is_in_mpi) std::this_thread::yield();
  int const before = explained;
  auto const e = pool.run([] { return mpi::error{"MPI_Wait", MPI_ERR_RANK, 3}; });
  EXPECT_EQ(e.error_class(), MPI_ERR_RANK);
  EXPECT_EQ(explained, before + 2);
  EXPECT_EQ(explained_elsewhere, 0);
}

// In a function that MPI may be called by already.
TEST_P(ranks, make_an_error_in_a_call) {
  auto const e = error_of([&] { pool.run([] { mpi::call([] { throw mpi::error{"MPI_Wait", MPI_ERR_RANK}; }); }); });
  EXPECT_EQ(e.error_class(), MPI_ERR_RANK);
}

// The second of three messages is too long, after the waits have begun.
TEST_P(ranks, throw_what_ends_a_request) {
  pool.run([] {
    std::array<int, 4> numbers{1, 2, 3, 4};
    if (me() == 1) {
      for (int round = 0; round < 4; ++round) {
        mpi::recv(nullptr, 0, MPI_INT, 0, 9, world);
        for (int tag = 0; tag < 3; ++tag) mpi::send(numbers.data(), tag == 1 ? 4 : 1, MPI_INT, 0, tag, world);
      }
      return;
    }
    std::array<int, 4> in{};
    std::array<MPI_Request, 3> requests{};
    auto const begin = [&](bool sends) {
      mpi::call([&] {
        for (std::size_t k = 0; k < 3; ++k) MPI_Irecv(&in[k], 1, MPI_INT, 1, static_cast<int>(k), world, &requests[k]);
      });
      if (sends) mpi::send(nullptr, 0, MPI_INT, 1, 9, world);
    };
    begin(true);
    std::array<MPI_Status, 3> statuses{};
    auto const first = error_of([&] { mpi::wait_all(requests, statuses); });
    EXPECT_EQ(first.error_class(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(first.index(), 1);
    EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    EXPECT_NE(statuses[1].MPI_ERROR, MPI_SUCCESS);
    EXPECT_EQ(std::ranges::count(requests, MPI_REQUEST_NULL), 3);

    begin(true);
    mpi::wait(requests[0]);
    EXPECT_EQ(error_of([&] { mpi::wait(requests[1]); }).error_class(), MPI_ERR_TRUNCATE);
    mpi::wait(requests[2]);

    begin(true);
    int failed = 0, ended = 0;
    for (;;) {
      try {
        if (mpi::wait_any(requests) == MPI_UNDEFINED) break;
      } catch (mpi::error const& e) {
        EXPECT_EQ(e.index(), 1);
        ++failed;
      }
      ++ended;
    }
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(ended, 3);

    mpi::send(nullptr, 0, MPI_INT, 1, 9, world);
    mpi::recv(&in[0], 1, MPI_INT, 1, 0, world);
    EXPECT_EQ(error_of([&] { mpi::recv(&in[1], 1, MPI_INT, 1, 1, world); }).error_class(), MPI_ERR_TRUNCATE);
    mpi::recv(&in[2], 1, MPI_INT, 1, 2, world);
  });
}

// ---- Pools.

// The destructor waits for strands that wait for messages, which come only then.
TEST_F(two_ranks, end_a_pool_that_waits_for_messages) {
  std::atomic<int> sum{0};
  {
    nopal::pool ends{{.workers = 1}};
    for (int k = 0; k < 10; ++k) {
      ends.detach([&sum, k] {
        int x = 0;
        mpi::sendrecv(&k, 1, MPI_INT, peer(), k, &x, 1, MPI_INT, peer(), k, world);
        sum += x;
      });
    }
  }
  EXPECT_EQ(sum, 45);
}

// Every worker forks until the message has come: the pool's timer looks, or brings what the session's thread has found.
TEST_P(ranks, get_messages_where_all_workers_are_busy) {
  if (std::getenv("NOPAL_MPI_TEST_UNSERVED") != nullptr) GTEST_SKIP() << "without a source nothing interrupts the workers";
  if (GetParam() > 1) GTEST_SKIP() << "a worker that must run a stack itself may wait on top of another one, or get both busy fibers";
  mpi::barrier(world);
  if (me() == 1) {
    int const x = 1;
    mpi::recv(nullptr, 0, MPI_INT, 0, 1, world);
    mpi::send(&x, 1, MPI_INT, 0, 0, world);
    return;
  }
  std::atomic<bool> waits{false}, came{false};
  std::atomic<unsigned> begun{0};
  nopal::counter fibers, busy;
  pool.spawn(fibers, [&] {
    int x = 0;
    waits = true;
    mpi::recv(&x, 1, MPI_INT, 1, 0, world);
    came = x == 1;
  });
  while (!waits) std::this_thread::yield();  // it waits before its worker takes another fiber, since nothing is sent yet
  auto const end = std::chrono::steady_clock::now() + 1min;
  for (unsigned k = 0; k < pool.workers(); ++k) {
    pool.spawn(busy, [&] {
      ++begun;
      while (begun < pool.workers()) std::this_thread::yield();
      while (!came && std::chrono::steady_clock::now() < end) nopal::parallel_invoke([] {}, [] {});
      EXPECT_TRUE(came);
    });
  }
  while (begun < pool.workers()) std::this_thread::yield();
  mpi::send(nullptr, 0, MPI_INT, 1, 1, world);
  nopal::wait_for(busy);
  nopal::wait_for(fibers);
}

TEST_F(two_ranks, look_when_asked) {
  nopal::counter fiber;
  std::atomic<int> got{-1};
  pool.spawn(fiber, [&] { got = exchange(me(), 0); });
  auto const end = std::chrono::steady_clock::now() + 1min;
  while (got < 0 && std::chrono::steady_clock::now() < end) mpi::poll();
  EXPECT_EQ(got, peer());
  nopal::wait_for(fiber);
}

// Libraries deliver at the first look what they return at the second. Polls that come one soon after the other are these two.
TEST_F(two_ranks, look_twice_at_each_poll_or_at_two) {
  if (session->funnelled()) GTEST_SKIP() << "a poll does nothing";
  for (bool const probes : {false, true}) {
    nopal::counter got;
    int x = -1;
    pool.spawn(got, [&] {
      MPI_Message message;
      if (!probes) return mpi::recv(&x, 1, MPI_INT, peer(), 0, world);
      mpi::mprobe(peer(), 0, world, &message);
      mpi::mrecv(&x, 1, MPI_INT, &message);
    });
    int const& looks = probes ? improbes : testsomes;
    auto const looks_of_a_poll = [&] {
      int const before = looks;
      while (looks == before) mpi::poll();  // while another thread looks, it does not
      return looks - before;
    };
    bool once = false;
    for (int k = 0; k < 1000 && !once; ++k) once = looks_of_a_poll() == 1;
    EXPECT_TRUE(once);
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(looks_of_a_poll(), 2);
    mpi::barrier(world);  // nothing is sent before
    mpi::send(&x, 1, MPI_INT, peer(), 0, world);
    nopal::wait_for(got);
  }
}

// A message is there, as the ranks' shared memory says. A poll finds it and yields to who gets it: on one worker nobody else would let that run.
// The pool's timer looks too, and what it finds no poll finds: so one round of many must count.
TEST(one_worker, yields_to_whom_a_poll_wakes) {
  if (session->funnelled() || session->threads() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "a poll does nothing, or gives way";
  if (std::getenv("NOPAL_MPI_TEST_UNSERVED") != nullptr) GTEST_SKIP() << "the session's thread looks, not the caller";
  int* there = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_allocate_shared(me() == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, world, &there, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &there);
  std::atomic_ref<int> const step{*there};
  if (me() == 0) step = 0;
  mpi::barrier(world);
  nopal::pool one{{.workers = 1}};
  auto const rounds = [&](bool probes) {
    constexpr int most = 2000;
    int at_once = 0;
    for (int k = 0; at_once == 0 && k < most; ++k) {
      int const asked = 2 * k + 1, sent = 2 * k + 2;
      if (me() == 1) {
        while (step != asked) std::this_thread::yield();
        MPI_Request r;
        MPI_Isend(&k, 1, MPI_INT, 0, 0, world, &r);
        step = sent;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
      } else {
        nopal::counter got;
        int x = -1;
        bool waits = false;
        nopal::spawn(got, [&] {
          MPI_Message message;
          waits = true;
          if (!probes) return mpi::recv(&x, 1, MPI_INT, 1, 0, world);
          mpi::mprobe(1, 0, world, &message);
          mpi::mrecv(&x, 1, MPI_INT, &message);
        });
        while (!waits) nopal::yield();
        step = asked;
        while (step != sent) std::this_thread::yield();
        mpi::poll();
        if (x == k) at_once = 1;
        nopal::wait_for(got);
      }
      mpi::bcast(&at_once, 1, MPI_INT, 0, world);
    }
    EXPECT_EQ(at_once, 1);
    mpi::barrier(world);
    if (me() == 0) step = 0;
    mpi::barrier(world);
  };
  one.run(rounds, false);
  one.run(rounds, true);
  MPI_Win_free(&window);
}

TEST_F(two_ranks, use_a_source_that_options_name) {
  nopal::pool_options o{.workers = 2};
  o.experimental.events = session->events();
  nopal::pool with{o};
  EXPECT_EQ(with.run([] { return exchange(me() + 5, 0); }), peer() + 5);
}

TEST_F(two_ranks, are_as_the_session_says) {
  EXPECT_EQ(session->size() % 2, 0);
  EXPECT_LT(session->rank(), session->size());
  int level = 0;
  MPI_Query_thread(&level);
  EXPECT_LE(session->threads(), level);
  EXPECT_EQ(mpi::call([] { return 4; }), 4);
  EXPECT_THROW(mpi::call([] { throw std::runtime_error{"x"}; }), std::runtime_error);
  if (session->funnelled()) {
    EXPECT_THROW(mpi::call([] { mpi::barrier(world); }), std::logic_error);
    int is_main = 0;
    mpi::call([&] { MPI_Is_thread_main(&is_main); });
    EXPECT_NE(is_main, 0);
  }
  int argc = 0;
  char** argv = nullptr;
  EXPECT_THROW((mpi::session{argc, argv}), std::logic_error);
  EXPECT_THROW(mpi::session{mpi::session::attach{}}, std::logic_error);
}

}  // namespace

// MPI's profiling names.
extern "C" int MPI_Testsome(int n, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  ++testsomes;
  return PMPI_Testsome(n, requests, ended, indices, statuses);
}
extern "C" int MPI_Improbe(int from, int tag, MPI_Comm comm, int* is_there, MPI_Message* message, MPI_Status* status) {
  ++improbes;
  return PMPI_Improbe(from, tag, comm, is_there, message, status);
}

static void note_explanation() {
  ++explained;
  bool const is_there = !session->funnelled() || std::this_thread::get_id() == thread_of_session;
  if (another_is_in_mpi || !is_there) ++explained_elsewhere;
}
extern "C" int MPI_Error_string(int code, char* text, int* length) {
  note_explanation();
  return PMPI_Error_string(code, text, length);
}
extern "C" int MPI_Error_class(int code, int* its_class) {
  note_explanation();
  return PMPI_Error_class(code, its_class);
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string const level = std::getenv("NOPAL_MPI_TEST_THREADS") != nullptr ? std::getenv("NOPAL_MPI_TEST_THREADS") : "MULTIPLE";
  int const threads = level == "SINGLE"       ? MPI_THREAD_SINGLE
                      : level == "FUNNELED"   ? MPI_THREAD_FUNNELED
                      : level == "SERIALIZED" ? MPI_THREAD_SERIALIZED
                                              : MPI_THREAD_MULTIPLE;
  mpi::session s{argc, argv, {.threads = threads, .serve_pools = std::getenv("NOPAL_MPI_TEST_UNSERVED") == nullptr}};
  session = &s;
  thread_of_session = mpi::call([] { return std::this_thread::get_id(); });
  if (s.size() % 2 != 0) return std::fprintf(stderr, "run this with pairs of ranks: mpirun -n 2\n"), 2;
  mpi::call([&] { return MPI_Comm_split(MPI_COMM_WORLD, s.rank() / 2, s.rank(), &world); });
  int const result = RUN_ALL_TESTS();
  mpi::call([] { return MPI_Comm_free(&world); });
  return result;
}
