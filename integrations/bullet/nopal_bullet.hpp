#pragma once

// Bullet's loops on nopal: worlds step on the workers of a pool, from any function, several at once. README.md beside this says how to use it.
// Needs: a Bullet with btITaskScheduler::parallelSum (3.24 is tested), built with -DBULLET2_MULTITHREADING=ON, and -DBT_THREADSAFE=1 for all
// that includes its headers.

#include <LinearMath/btThreads.h>
#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/pool.hpp>
#include <nopal/stop.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace nopal {

#if defined(BT_THREADSAFE) && BT_THREADSAFE

/// What btSetTaskScheduler is given, on the program's first thread:
///
///     nopal::bullet_scheduler scheduler{pool};
///     btSetTaskScheduler(&scheduler);
///
/// From then on all loops of Bullet fork on the pool, whoever steps a world: that thread, other threads, tasks, fibers, bodies of nopal's
/// loops. Worlds that step at once loop on the same workers. A loop that begins inside a body of another Bullet loop is serial, as with
/// Bullet's own threads: so a body never waits for another while it holds one of Bullet's spin locks.
class bullet_scheduler final : public btITaskScheduler {
 public:
  /// Works on `p`, which outlives it. Throws std::invalid_argument if Bullet has not so many thread numbers.
  explicit bullet_scheduler(pool& p = default_pool()) : btITaskScheduler{"nopal"}, pool_{p}, numbers_{p.workers() + 1} {
    if (numbers_ > BT_MAX_THREAD_COUNT) {
      throw std::invalid_argument{"nopal::bullet_scheduler: a pool of " + std::to_string(p.workers()) +
                                  " workers, and Bullet numbers at most " + std::to_string(BT_MAX_THREAD_COUNT) +
                                  " threads, the program's first among them: give it a pool of at most " +
                                  std::to_string(BT_MAX_THREAD_COUNT - 1)};
    }
  }
  bullet_scheduler(bullet_scheduler const&) = delete;
  bullet_scheduler& operator=(bullet_scheduler const&) = delete;
  /// On the program's first thread. If Bullet still uses this, it goes on serially.
  ~bullet_scheduler() override {
    if (btGetTaskScheduler() == this) btSetTaskScheduler(btGetSequentialTaskScheduler());
  }

  /// How many numbers the threads have that run bodies: Bullet's dispatchers and pools of solvers are made for so many. One more than the
  /// pool's workers, whatever setNumThreads was told, since the program's first thread has one, too.
  int getNumThreads() const override { return static_cast<int>(numbers_); }
  int getMaxNumThreads() const override { return static_cast<int>(numbers_); }
  /// 1 makes loops serial; all else, the pool's workers. Any thread; for loops that begin later.
  void setNumThreads(int n) override { serial_.store(n == 1, std::memory_order_relaxed); }  // relaxed: a setting

  /// Calls body.forLoop for [begin, end) in blocks of `grain_size`, some at once; or for all of it, where that is one block or loops are serial.
  /// Runs to its end also where it is asked to stop. Rethrows what serial execution would have thrown first.
  void parallelFor(int begin, int end, int grain_size, btIParallelForBody const& body) override {
    check(grain_size);
    if (begin >= end) return;
    if (is_serial(begin, end, grain_size)) return on_numbered_thread([&] { call(body, begin, end); });
    fork(begin, end, grain_size, [&](int first, int last) { call(body, first, last); });
  }

  /// The sums of the blocks of `grain_size`, from left to right: the same bits on any number of workers. Else as parallelFor.
  btScalar parallelSum(int begin, int end, int grain_size, btIParallelSumBody const& body) override {
    check(grain_size);
    btScalar sum{0};
    if (begin >= end) return sum;
    if (is_serial(begin, end, grain_size)) {
      on_numbered_thread([&] {
        in_body const here;
        for (int first = begin, last = 0; first < end; first = last) {
          last = end - first > grain_size ? first + grain_size : end;
          sum += body.sumLoop(first, last);
        }
      });
      return sum;
    }
    std::vector<btScalar> parts(static_cast<std::size_t>((end - begin - 1) / grain_size + 1));
    fork(begin, end, grain_size, [&](int first, int last) {
      in_body const here;
      parts[static_cast<std::size_t>((first - begin) / grain_size)] = body.sumLoop(first, last);
    });
    for (btScalar const part : parts) sum += part;
    return sum;
  }

  /// For btSetTaskScheduler, which calls it on the program's first thread: gives the workers' threads Bullet's lowest numbers, once each of
  /// them is free for it. Throws std::runtime_error if Bullet was built without threads, std::logic_error if two workers have the same
  /// number, and what running a job throws; Bullet goes on serially then.
  void activate() override {
    m_savedThreadCounter = 0;
    btITaskScheduler::activate();
    try {
      check_threads_are_used();
      number_threads();
    } catch (...) {
      btSetTaskScheduler(btGetSequentialTaskScheduler());
      throw;
    }
  }

 private:
  /// What the adapter knows of a thread.
  struct thread_state {
    bullet_scheduler const* numbered_by = nullptr;  // whose getNumThreads covers its number
    std::atomic<bool> in_body = false;              // it runs a body now
  };
  /// The calling thread's. Not inlined: a compiler may keep the address across a call that changes threads.
  [[gnu::noinline]] static thread_state& this_thread() noexcept {
    static thread_local thread_state mine;
    asm volatile("");  // else its calls are merged into one
    return mine;
  }

  /// While it lives, loops on this thread are serial. A body changes its thread only if it waits of its own accord, for what a callback of the
  /// program does: then both are cleared.
  class in_body {
   public:
    in_body() noexcept : began_{this_thread().in_body.exchange(true, std::memory_order_relaxed) ? nullptr : &this_thread().in_body} {}
    in_body(in_body const&) = delete;
    in_body& operator=(in_body const&) = delete;
    ~in_body() {
      if (began_ == nullptr) return;  // a loop inside a body
      began_->store(false, std::memory_order_relaxed);
      this_thread().in_body.store(false, std::memory_order_relaxed);
    }
    static bool now() noexcept { return this_thread().in_body.load(std::memory_order_relaxed); }

   private:
    // relaxed, all four: what is written here is for the thread whose flag it is, and says nothing of other memory
    std::atomic<bool>* const began_;
  };

  static void call(btIParallelForBody const& body, int first, int last) {
    in_body const here;
    body.forLoop(first, last);
  }

  static void check(int grain_size) {
    if (grain_size < 1) {
      throw std::invalid_argument{"nopal::bullet_scheduler: a loop of Bullet with a grain size of " + std::to_string(grain_size) +
                                  ": give it at least 1"};
    }
  }

  bool is_serial(int begin, int end, int grain_size) const noexcept {
    return end - begin <= grain_size || in_body::now() || serial_.load(std::memory_order_relaxed);  // relaxed: a setting
  }

  /// Calls f(first, last) for each block, on threads that have numbers. A request to stop would leave a world in the middle of a step.
  template <class F>
  void fork(int begin, int end, int grain_size, F const& f) {
    without_stop([&] {
      on_numbered_thread([&] {
        auto const loop = [&] {
          parallel_for_blocks(
              begin, end, [&](int first, int last) { on_numbered_thread([&] { f(first, last); }); },
              grain{static_cast<std::size_t>(grain_size)});
        };
        pool::current() == &pool_ ? loop() : pool_.run(loop);
      });
    });
  }

  /// Calls f() here, if Bullet's number of this thread is below getNumThreads() and no other's; else on a worker. Threads without such a
  /// number come here by loops of their own, and take parts of what a job forks that they have given to the pool.
  template <class F>
  void on_numbered_thread(F const& f) {
    if (is_numbered()) return f();
    without_stop([&] {
      pool_
          .submit([&] {
            if (!is_numbered()) {
              throw std::logic_error{
                  "nopal::bullet_scheduler: Bullet's number of a worker's thread is not known: call btSetTaskScheduler with "
                  "this scheduler first, and again after nopal::shutdown"};
            }
            f();
          })
          .get();
    });
  }
  bool is_numbered() const { return (this_thread().numbered_by == this && pool::current() == &pool_) || btIsMainThread(); }

  void number_threads() {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < pool_.workers(); ++i) {
      unsigned const number = pool_.run(number_of, this, pool_.worker(i));
      if (auto const other = std::ranges::find(all, number); other != all.end()) {
        throw std::logic_error{"nopal::bullet_scheduler: workers " + std::to_string(other - all.begin()) + " and " + std::to_string(i) +
                               " both have Bullet's thread number " + std::to_string(number) +
                               ": they have used Bullet before btSetTaskScheduler, which must be called first, or with a new pool"};
      }
      all.push_back(number);
    }
    numbers_ = std::max(numbers_, std::ranges::max(all) + 1);
  }
  static task<unsigned> number_of(bullet_scheduler const* self, worker_ref w) {
    co_await resume_on(w);
    this_thread().numbered_by = self;
    co_return btGetCurrentThreadIndex();
  }

  /// A Bullet that was built without threads calls bodies itself.
  static void check_threads_are_used() {
    struct probe final : btIParallelForBody {
      bool mutable ours = false;
      void forLoop(int, int) const override { ours = in_body::now(); }
    } const body;
    btParallelFor(0, 1, 1, body);
    if (!body.ours) {
      throw std::runtime_error{
          "nopal::bullet_scheduler: this Bullet was built without threads, as Debian's libbullet-dev is, and its loops are "
          "serial: build it with -DBULLET2_MULTITHREADING=ON (vcpkg: bullet3[multithreading])"};
    }
  }

  pool& pool_;
  unsigned numbers_;
  std::atomic<bool> serial_ = false;
};

#else

/// So that a program includes this header whatever its Bullet is: only making one is refused.
class bullet_scheduler {
 public:
  template <class... A>
  explicit bullet_scheduler(A&&...) {
    static_assert(sizeof...(A) > 1000,
                  "nopal: Bullet's loops are serial, and its headers take no locks, without BT_THREADSAFE. Build Bullet with "
                  "-DBULLET2_MULTITHREADING=ON (vcpkg: bullet3[multithreading]; Debian's libbullet-dev is built without), and "
                  "compile with -DBT_THREADSAFE=1 all that includes its headers.");
  }
};

#endif

}  // namespace nopal
