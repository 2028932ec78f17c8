#pragma once

// What begins when others have ended: jobs of pool::submit and future::then, and fibers, that were given what they begin after. No thread
// and no stack waits: each of the others has an entry in its list of waiters, whose wake-up counts. README.md, "What begins after others".
// Called by ../../pool.hpp, ../../fiber.hpp and ../../future.hpp. Next: submission.hpp, which gives the job to a worker.

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/fiber_record.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/completion.hpp"

namespace nopal::inline NOPAL_ABI::core {

using counter_word = basic_counter<timed_stack_waits>;

/// One of the others: the result of a job or a promise, or a counter. One of the two is null.
struct predecessor {
  std::shared_ptr<any_result> result;
  counter_word* counter = nullptr;
  bool is_used = false;  ///< the result is kept until what begins after it has ended; at most one is
};

/// What begins after others. It is a part of the job or the fiber that begins.
class NOPAL_API dependent {
 public:
  dependent(dependent const&) = delete;
  dependent& operator=(dependent const&) = delete;

  /// Enters all lists. True: all have ended already, and the caller begins it. False: the thread that ends the last one calls `begin` of the
  /// constructor; or has called it, and this may be gone. Once.
  bool enter() noexcept;

  /// When all have ended: what the first of them that failed has thrown, in the order in which they were given; or null.
  std::exception_ptr const& failure() const noexcept { return failure_; }
  /// The result that failed so; null: a counter, or none.
  std::shared_ptr<any_result>& failed() noexcept { return failed_; }
  /// What begins here has ended, and uses no result any more. Before others know of its end: a chain of them is not freed at once then,
  /// which would take a stack as deep as the chain is long.
  void let_go() noexcept;

 protected:
  /// Takes what is in `after`. Throws std::bad_alloc.
  dependent(std::vector<predecessor>&& after, void (*begin)(dependent&) noexcept);
  ~dependent();
  /// What begins here has begun: the others need not live any more, but the one that it uses. Their destructors run here, as its own do:
  /// the thread that has ended the last of them may be a fiber whose values and region have ended.
  void drop_others() noexcept;

 private:
  struct link;
  static void ended(waiting_stack& l) noexcept;
  bool arrive() noexcept;

  void (*const begin_)(dependent&) noexcept;
  std::size_t count_;
  std::unique_ptr<link[]> links_;
  std::atomic<std::size_t> left_;  // of the others, and 1 until all lists were entered
  std::exception_ptr failure_;
  std::shared_ptr<any_result> failed_;
  std::shared_ptr<any_result> used_;
};

/// The wait of a job that begins after others. It is a part of the job.
class NOPAL_API waiting_job : public dependent {
 public:
  /// Throws std::bad_alloc.
  waiting_job(std::vector<predecessor>&& after, job& waits);
  /// By the worker that begins the job, whose result is `of`. True: it runs. False: one of the others has failed, and the job only ends, with
  /// that failure.
  bool may_run(any_result& of) noexcept;

 private:
  static void begin(dependent& d) noexcept;

  job& job_;
};

/// The job of pool::submit that begins after others, and of future::then. If one of them has failed, it only ends, with that failure.
template <class F, class... A>
class NOPAL_PROFILED dependent_job final : public submitted_job<F, A...>, public waiting_job {
 public:
  explicit dependent_job(std::vector<predecessor>&& after, F f, A... a)
      : submitted_job<F, A...>{static_cast<F>(f), static_cast<A>(a)...}, waiting_job{std::move(after), *this} {
    this->finish = [](job& r) noexcept {
      auto& self = static_cast<dependent_job&>(r);
      [[maybe_unused]] pending_where_it_ends<dependent_job::is_coroutine> const there{r};
      self.end_call();
      self.let_go();
      core::end_submitted(self, self.own, self.done);
    };
    this->start = [](job& r) {
      auto& self = static_cast<dependent_job&>(r);
      if (self.may_run(self)) self.submitted_job<F, A...>::begin();
    };
  }
};

/// Gives such a job, which keeps itself, to a pool: submit_after.
NOPAL_API void submit_kept_after(pool_state* pool, pool_state& (*otherwise)(), region_id region, job& r, kept_job& k, waiting_job& w);
/// As that. `s`: the job. Not inlined: each call of future::then is less code.
template <class R>
[[gnu::noinline]] void submit_kept_after(pool_state* pool, pool_state& (*otherwise)(), region_id region, job& r, kept_job& k,
                                         waiting_job& w, std::shared_ptr<shared_result<R>> const& s) {
  k.self = s;
  core::submit_kept_after(pool, otherwise, region, r, k, w);
}

/// Makes such a job, in that stop region, which is given to `pool` when the others have ended. Null: to the pool whose worker ends the last
/// of them, which must end on a worker; or if they have ended, to the caller's pool, or to otherwise() if the caller works for none. Throws
/// std::bad_alloc, what the constructor throws, and what `otherwise` throws; then there is no job.
template <class F, class... A>
NOPAL_PROFILED auto submit_after(pool_state* pool, pool_state& (*otherwise)(), region_id region, std::vector<predecessor>&& after, F&& f,
                                 A&&... a) {
  using made = dependent_job<F&&, A&&...>;
  auto r = std::make_shared<made>(std::move(after), static_cast<F&&>(f), static_cast<A&&>(a)...);
  made& m = *r;
  std::shared_ptr<shared_result<typename made::result>> s = std::move(r);
  core::submit_kept_after(pool, otherwise, region, m, m.own, m, s);
  return s;
}

/// What a function that future::then is given begins after: `of`, whose result it uses. Throws std::bad_alloc.
NOPAL_API std::vector<predecessor> only_after(std::shared_ptr<any_result> of);
/// The pool in which such a function runs; null: that of the worker that ends `of`. Throws what default_pool() throws.
NOPAL_API pool_state* pool_to_follow_in(any_result const& of);

/// The wait of a fiber that begins after others. It is a part of the fiber's closure.
class NOPAL_API waiting_fiber : public dependent {
 public:
  explicit waiting_fiber(std::vector<predecessor>&& after) : dependent{std::move(after), begin} {}

  /// From now on `fiber` waits, and the end of `pool` waits for it.
  void begin_in(pool_state& pool, resumable& fiber) noexcept;
  /// By the fiber, which has begun. True: it runs. False: one of the others has failed, and nobody need be told. Throws that failure: a
  /// counter gets it, if `is_counted`; else it has come from a counter, and ends the program.
  bool may_run(bool is_counted);

 private:
  static void begin(dependent& d) noexcept;

  pool_state* pool_ = nullptr;
  resumable* fiber_ = nullptr;
};

/// What a closure_after is made from.
template <class Given>
struct given_after {
  std::unique_ptr<waiting_fiber> wait;
  bool is_counted;
  std::remove_reference_t<Given>* closure;
};

/// The closure of a fiber that begins after others.
template <class F>
struct closure_after {
  std::unique_ptr<waiting_fiber> wait;
  bool is_counted;
  F f;

  template <class Given>
  explicit closure_after(given_after<Given>&& g) : wait{std::move(g.wait)}, is_counted{g.is_counted}, f(static_cast<Given>(*g.closure)) {}
  void operator()() && {
    if (wait->may_run(is_counted)) static_cast<void>(static_cast<called_once<F>>(f)());
  }
};

/// As spawn_after, for a closure that is known to be well-formed.
template <class Counter, class F>
// NOLINTNEXTLINE(misc-unused-parameters): all are used
void spawn_checked_after(pool_state& pool, std::vector<predecessor>&& after, Counter* c, F&& f) {
  using closure = closure_after<std::decay_t<F>>;
  using record = fiber_record<closure, Counter>;
  auto wait = std::make_unique<waiting_fiber>(std::move(after));
  waiting_fiber& w = *wait;
  struct memory {
    void* at = ::operator new(central_block_list::rounded(sizeof(record)));
    ~memory() { ::operator delete(at); }
  } m;
  auto* const made = ::new (m.at) record{c, given_after<F&&>{std::move(wait), c != nullptr, std::addressof(f)}};
  m.at = nullptr;
  made->runs_in.region = inherited_region();
  if (made->runs_in.region != no_region) hold_region(made->runs_in.region);
  made->words.store();
  w.begin_in(pool, *made);
}
/// Spawns a fiber that begins after others. `to`: the pool; null: the caller's pool, or otherwise() if the caller works for none. `c`:
/// counts it, up now and down when it has ended; or null. Throws std::bad_alloc, what copying the closure throws, and what `otherwise`
/// throws; nothing has happened then.
template <class Counter, class F>
void spawn_after(pool_state* to, pool_state& (*otherwise)(), std::vector<predecessor>&& after, Counter* c, F&& f) {
  if constexpr (core::may_be_fiber<F>()) {
    worker* const w = current_or_null();
    pool_state& pool = to != nullptr ? *to : w != nullptr ? w->pool() : otherwise();
    if (c != nullptr) c->add();
    try {
      core::spawn_checked_after(pool, std::move(after), c, static_cast<F&&>(f));
    } catch (...) {
      if (c != nullptr) c->done();
      throw;
    }
  }
}

}  // namespace nopal::core
