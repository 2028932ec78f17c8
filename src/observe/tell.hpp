#pragma once

// Places for tracers outside the program: USDT probes of the provider `nopal`, at the same places as the trace's events. Each is one
// instruction that does nothing until a tracer (bpftrace, perf, SystemTap, gdb) puts a breakpoint there. docs/trace.md names them. A build
// without <sys/sdt.h> has none.

#include "nopal/core/observe/observer.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/deadline.hpp"

#if NOPAL_USDT
#include <sys/sdt.h>
#define NOPAL_PROBE1(name, a) STAP_PROBE1(nopal, name, a)
#define NOPAL_PROBE2(name, a, b) STAP_PROBE2(nopal, name, a, b)
#define NOPAL_PROBE3(name, a, b, c) STAP_PROBE3(nopal, name, a, b, c)
#define NOPAL_PROBE4(name, a, b, c, d) STAP_PROBE4(nopal, name, a, b, c, d)
#else
#define NOPAL_PROBE1(name, a) static_cast<void>(0)
#define NOPAL_PROBE2(name, a, b) static_cast<void>(0)
#define NOPAL_PROBE3(name, a, b, c) static_cast<void>(0)
#define NOPAL_PROBE4(name, a, b, c, d) static_cast<void>(0)
#endif

namespace nopal::inline NOPAL_ABI::core::tell {

// How the rooms tell what happens: a tracer outside the program through a probe, and the pool's observer, if it has one. Each call is an
// instruction that does nothing, and one test. Called off the path of a fork. Next: nopal/core/observe/observer.hpp, what each means.

inline void strand_begins(worker& w, strand_kind what, void const* code, void const* object = nullptr) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->strand_begins(w, what, code, object);
  switch (what) {
    case strand_kind::ready: NOPAL_PROBE2(strand, w.index(), code); break;
    case strand_kind::job:
    case strand_kind::callers_job: NOPAL_PROBE2(job, w.index(), code); break;
    case strand_kind::task:
    case strand_kind::moved_task: NOPAL_PROBE3(task, w.index(), code, object); break;
    case strand_kind::branch: NOPAL_PROBE2(branch, w.index(), code); break;
    case strand_kind::child: NOPAL_PROBE2(child, w.index(), code); break;
  }
}
template <class Result, class... P>
void strand_begins(worker& w, strand_kind what, Result (*code)(P...), void const* object = nullptr) noexcept {
  strand_begins(w, what, reinterpret_cast<void const*>(code), object);
}
template <class Result, class... P>
void strand_begins(worker& w, strand_kind what, Result (*code)(P...) noexcept, void const* object = nullptr) noexcept {
  strand_begins(w, what, reinterpret_cast<void const*>(code), object);
}
inline void strand_leaves(worker& w, waits_for const& why) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->strand_leaves(w, why);
  NOPAL_PROBE4(suspend, w.index(), w.here, why.what, why.object);
}
/// By the owner of `s`; the frame that waited is at rest on it.
inline void strand_resumes(worker& w, stack const& s) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->strand_resumes(w, s, s.waits.load(std::memory_order_relaxed));  // relaxed: the caller owns the stack
  NOPAL_PROBE2(resume, w.index(), &s);
}
inline void waits_on_top(worker& w, stack const& s, waits_for const& why) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->waits_on_top(w, s, why);
}
inline void waited_on_top(worker& w, stack const& s, waits_for const& why) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->waited_on_top(w, s, why);
}
inline void task_waits(worker& w, frame const* task) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->task_waits(w, task);
  NOPAL_PROBE2(suspend_task, w.index(), task);
}
inline void task_resumes(worker& w, frame const* task) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->task_resumes(w, task);
  NOPAL_PROBE2(resume_task, w.index(), task);
}
inline void runs_none(worker& w) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->runs_none(w);
}
inline void job_begins(worker& w) noexcept { w.observed->job_begins(w.index()); }
inline void job_ends(worker& w) noexcept { w.observed->job_ends(w.index()); }

// ---- Thieves.

inline void searches(worker& w, bool does) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->searches(w.index(), does);
}
inline void tries(worker& w, worker const& victim) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->tries(w.index(), victim.index());
}
inline void took(worker& w, worker const& victim) noexcept {
  w.count.add(counted::steals);
  if (w.observed != nullptr) [[unlikely]]
    w.observed->took(w, victim);
  NOPAL_PROBE2(steal, w.index(), victim.index());
}
inline bool pauses(worker& w, std::uint64_t pauses) noexcept { return w.observed != nullptr && w.observed->pauses(w.index(), pauses); }
inline void sleeps(worker& w) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->sleeps(w);
  NOPAL_PROBE1(sleep, w.index());
}
inline void wakes(worker& w, bool slept) noexcept {
  NOPAL_PROBE2(wake, w.index(), slept);
  if (w.observed != nullptr) [[unlikely]]
    w.observed->wakes(w, slept);
}
inline void naps(worker& w, std::int64_t nanoseconds) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->naps(w);
  NOPAL_PROBE2(nap, w.index(), nanoseconds);
}
inline void napped(worker& w) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->napped(w);
}

// ---- Where an observer may hold the worker back.

inline void may_come_later(worker& w, stack const* left = nullptr) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->may_come_later(w.index(), left);
}
inline void must_come_in_order(worker& w) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->must_come_in_order(w.index());
}
inline void makes_way(worker& w) noexcept {
  if (w.observed != nullptr) [[unlikely]]
    w.observed->makes_way(w.index());
}

// ---- By any thread.

/// The caller is about to give something to the pool.
inline void comes(pool_state& pool, brought what) noexcept {
  NOPAL_PROBE2(submit, pool.name.c_str(), static_cast<int>(what));
  if (pool.observed == nullptr) [[likely]]
    return;
  worker* const w = current_or_null();
  pool.observed->comes(what, w != nullptr && &w->pool() == &pool ? w : nullptr);
}
inline void settle(pool_state& pool) noexcept {
  if (pool.observed != nullptr) [[unlikely]]
    pool.observed->settle();
}
inline void job_comes(pool_state& pool) noexcept { pool.observed->job_comes(); }
inline void something_new(pool_state& pool) noexcept {
  if (pool.observed != nullptr) [[unlikely]]
    pool.observed->something_new();
}

}  // namespace nopal::core::tell
