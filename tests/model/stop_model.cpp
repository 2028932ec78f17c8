// A shipped request to stop, under every interleaving and stale value, with waiters at a shipped semaphore. A waiter's frame, and its
// listener, are memory that ends.

#include <gtest/gtest.h>

#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::few_spins;
using model::program;
using model::scenario;
using model::var;
using model::waiting;
using model::waits;

using request = nopal::core::basic_request<model::mortal_sync>;

/// As timed_stack_waits, in a region with request `asked`.
struct region_waits : waits {
  static inline request* asked = nullptr;

  /// As the shipped timer_entry, around the model's own.
  class timer_entry {
   public:
    explicit timer_entry(waiter& w) : limit_{w}, stop_{w} {}
    timer_entry(timer_entry const&) = delete;
    ~timer_entry() { stop_.end(*asked); }
    void start() noexcept {
      stop_.start(*asked, [this]() noexcept { limit_.start(); });
    }
    bool expired() const noexcept { return limit_.expired() || stop_.told; }

   private:
    waits::timer_entry limit_;
    nopal::core::basic_stop_wait<sync, waiter> stop_;
  };

  static void start(timer_entry& e) noexcept { e.start(); }
  template <class Publish>
  static bool await_wake_until(waiter& me, nopal::core::waits_for why, time_point limit, Publish publish) {
    timer_entry t{me};
    if (is_thread()) {
      return nopal::core::thread_awaits_wake_until(me, limit, [&]() noexcept { return publish(&t); }) && !t.expired();
    }
    await_wake(me, why, [&]() noexcept { return publish(&t); });
    return !t.expired();
  }
};
using semaphore = nopal::core::basic_semaphore<region_waits>;

/// A limit that a thread does not reach: only a waker or the request ends its wait.
constexpr waits::time_point never{std::chrono::seconds{1'000}};

bool try_acquire(semaphore& s) {
  return s.try_acquire([&]() noexcept { return s.try_acquire_slowly(); });
}
bool acquire(semaphore& s, waits::time_point limit = never) { return try_acquire(s) || s.acquire_until(limit); }
void release(semaphore& s) {
  std::ptrdiff_t before;
  if (!s.release_if_quiet(1)) check(s.release_slowly(1, before), "there is room");
}

struct things {
  request asked;
  semaphore permits{0};
  var<int> data{0};
  std::array<var<int>, 2> got{};
};

/// A program in a region. body(p, things).
template <class Body>
scenario in_region(char const* name, unsigned threads, Body body, int spins = few_spins) {
  return waiting(
      name, threads,
      [body](program& p) {
        auto& t = p.make<things>();
        region_waits::asked = &t.asked;
        body(p, t);
      },
      spins);
}

void wait_for_permit(things& t, std::size_t who = 0, waits::time_point limit = never) {
  if (acquire(t.permits, limit)) {
    t.got[who].set(1);
  } else if (limit == never) {
    check(t.asked.is_made() && t.data.get() == 1, "who was told sees the request, and what came before it");
  }
}
void ask(things& t) {
  t.data.set(1);
  t.asked.make();
}

scenario only_the_request(char const* name, unsigned threads) {
  return in_region(
      name, threads,
      [](program& p, things& t) {
        p.thread([&t] { ask(t); });
        p.thread([&t] { wait_for_permit(t); });
      },
      12);
}
scenario request_against_release(char const* name, unsigned threads) {
  return in_region(
      name, threads,
      [](program& p, things& t) {
        p.thread([&t] { ask(t); });
        p.thread([&t] { release(t.permits); });
        p.thread([&t] { wait_for_permit(t); });
        p.finally([&t] { check(t.got[0].get() + (try_acquire(t.permits) ? 1 : 0) == 1, "the permit is somewhere"); });
      },
      1);
}

/// Three requests around each other, as those of regions.
struct nested {
  request outer;
  request middle;
  request inner;
  request::within middle_in{middle};
  request::within inner_in{inner};
  var<int> data{0};
  var<int> moved{0};

  nested() {
    outer.add(middle_in, []() noexcept {});
    middle.add(inner_in, []() noexcept {});
  }
  void ask(request& r) {
    data.set(1);
    r.make();
  }
  /// As region_table::leave, and as the end of the one in the middle: if the inner one is no longer in it, it ends.
  void leave() {
    if (!middle.hand_over(inner_in, outer)) return;
    moved.set(1);
    outer.remove(middle_in);
  }
};

/// A request inside of `r`, and one inside of that, and so on, in memory that ends.
void begin_and_end_in(request& r, int depth) {
  if (depth == 0) return;
  request mine;
  request::within in{mine};
  if (!r.add(in, []() noexcept {})) mine.make();
  begin_and_end_in(mine, depth - 1);
  r.remove(in);
}

/// A program with these. body(p, nested).
template <class Body>
scenario of_nested(char const* name, Body body) {
  return waiting(name, 0, [body](program& p) { body(p, p.make<nested>()); }, few_spins);
}

std::vector<scenario> const scenarios{
    only_the_request("a request, one waits", 0),
    only_the_request("a request, a thread waits", 2),
    request_against_release("a request against a release", 0),
    request_against_release("a request against a release, a thread waits", 4),
    in_region(
        "a request against a limit", 0,
        [](program& p, things& t) {
          p.thread([&t] { ask(t); });
          p.thread([] { waits::timer_entry::expire(); });
          p.thread([&t] { wait_for_permit(t, 0, waits::soon); });
        },
        1),
    in_region("a request, two wait", 0,
              [](program& p, things& t) {
                p.thread([&t] { ask(t); });
                p.thread([&t] { wait_for_permit(t, 0); });
                p.thread([&t] { wait_for_permit(t, 1); });
              }),
    in_region(
        "two requests, one waits", 0,
        [](program& p, things& t) {
          p.thread([&t] { ask(t); });
          p.thread([&t] { t.asked.make(); });
          p.thread([&t] {
            // It is not known which of the two it has got.
            if (acquire(t.permits)) check(false, "there is no permit");
          });
        },
        1),
    in_region(
        "one that polls", 0,
        [](program& p, things& t) {
          p.thread([&t] { ask(t); });
          p.thread([&t] {
            if (t.asked.is_made()) check(t.data.get() == 1, "who finds it made sees what came before");
          });
        },
        12),
    of_nested("a request around others",
              [](program& p, nested& t) {
                p.thread([&t] { t.ask(t.outer); });
                p.thread([&t] {
                  if (t.inner.is_made()) check(t.data.get() == 1, "who finds the inner one made sees what came before");
                });
                p.finally([&t] { check(t.middle.is_made() && t.inner.is_made(), "those inside are made"); });
              }),
    of_nested("two requests around one",
              [](program& p, nested& t) {
                p.thread([&t] { t.ask(t.outer); });
                p.thread([&t] { t.middle.make(); });
                p.finally([&t] { check(t.middle.is_made() && t.inner.is_made(), "those inside are made"); });
              }),
    of_nested("a request around others against some that begin and end",
              [](program& p, nested& t) {
                p.thread([&t] { t.ask(t.outer); });
                p.thread([&t] { begin_and_end_in(t.outer, 2); });
              }),
    of_nested("a request around others against one that leaves",
              [](program& p, nested& t) {
                p.thread([&t] { t.ask(t.outer); });
                p.thread([&t] { t.leave(); });
                p.finally([&t] {
                  check(t.inner.is_made(), "the inner one is made");
                  check(t.middle.is_made() || t.moved.get() == 1, "so is the one in the middle, unless it has ended");
                });
              }),
    of_nested("a request in the middle against one that leaves",
              [](program& p, nested& t) {
                p.thread([&t] { t.ask(t.middle); });
                p.thread([&t] { t.leave(); });
                p.finally([&t] { check(t.inner.is_made() || t.moved.get() == 1, "the inner one is made, unless it has left before"); });
              }),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(stop, "stop_region.hpp", "spin_lock.hpp")

}  // namespace
