// Children as fibers, and what fibers wait for.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "nopal/fiber.hpp"
#include "nopal/nopal.h"
#include "run.hpp"

namespace soak {

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::wait_for;

using outcomes = std::array<outcome, node::most_children>;

/// Calls f, which spawns, and waits for c, even if f throws.
template <class F>
void spawning(counter& c, F f) {
  std::exception_ptr thrown;
  try {
    f();
  } catch (...) {
    thrown = std::current_exception();
  }
  try {
    wait_for(c);
  } catch (...) {
    if (thrown == nullptr) thrown = std::current_exception();
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

/// A fiber for each child, which calls f(k). f must catch what the program throws.
template <class F>
void each(part const& p, counter& left, F const& f) {
  for (std::size_t k = 0; k < p.size(); ++k) nopal::spawn(left, [&f, k, here = token{p.s}] { f(k); });
}
template <class F>
void each(part const& p, F const& f) {
  counter left;
  spawning(left, [&] { each(p, left, f); });
}

/// The counter keeps the exception that was thrown first; a serial run throws that of the first child.
void spawn(part const& p) {
  counter left;
  try {
    spawning(left, [&] {
      for (std::size_t k = 0; k < p.size(); ++k) {
        nopal::spawn(left, [&p, k, here = token{p.s}] {
          if (p.n.bit(k)) nopal::yield();
          p.values[k] = natively(p.s, *p.children[k]);
        });
        if (p.n.bit(k + 2)) nopal::yield();
      }
    });
  } catch (numbered const& e) {
    auto const may_throw = [&](node const* c) { return c->seen().thrown == e.number; };
    if (std::none_of(p.children.begin(), p.children.end(), may_throw)) p.s.wrong(p.n, "an exception that no child has thrown");
    for (node const* const c : p.children) {
      if (c->seen().thrown != 0) throw numbered{c->seen().thrown, p.s.alive};
    }
  }
}

void timed(part const& p) {
  outcomes results;
  counter left;
  auto const sleeps = [&](std::size_t k) {
    if (p.n.bit(k)) nopal::sleep_for(std::chrono::microseconds{p.n.salt % 50});
    results[k] = attempt(p.s, *p.children[k]);
  };
  std::exception_ptr thrown;
  try {
    each(p, left, sleeps);
  } catch (...) {
    thrown = std::current_exception();
  }
  while (!wait_for(left, 0, std::chrono::microseconds{20 + p.n.salt})) {
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
  settle(p, results.data());
}

void values(part const& p) {
  outcomes results;
  std::atomic<std::size_t> ended{0};
  counter left{static_cast<std::int64_t>(p.size())};
  auto const wait_for_all_but = [&](std::size_t k) {
    wait_for(left, static_cast<std::int64_t>(k));
    if (ended < p.size() - k) p.s.wrong(p.n, "a wait for a counter has ended too early");
  };
  each(p, [&](std::size_t k) {
    results[k] = attempt(p.s, *p.children[k]);
    ++ended;
    left.done();
    if (p.n.bit(k)) wait_for_all_but(k);
  });
  wait_for_all_but(0);
  settle(p, results.data());
}

void mutex(part const& p) {
  outcomes results;
  nopal::mutex m;
  std::size_t inside = 0, done = 0;
  each(p, [&](std::size_t k) {
    if (!p.n.bit(k)) results[k] = attempt(p.s, *p.children[k]);
    bool locked = false;
    for (std::size_t tries = p.n.salt % 4; !locked && tries != 0; --tries) {
      locked = m.try_lock();
      if (!locked) nopal::yield();
    }
    if (!locked) m.lock();
    std::lock_guard const guard{m, std::adopt_lock};
    if (++inside != 1) p.s.wrong(p.n, "two have one mutex");
    if (p.n.bit(k)) results[k] = attempt(p.s, *p.children[k]);  // may return on another thread, on the same stack
    ++done;
    --inside;
  });
  if (done != p.size()) p.s.wrong(p.n, "a critical section was lost");
  settle(p, results.data());
}

void semaphore(part const& p) {
  outcomes results;
  int const permits = 1 + static_cast<int>(p.n.salt % 3);
  nopal::semaphore free{permits};
  std::atomic<int> inside{0};
  each(p, [&](std::size_t k) {
    if (p.n.bit(k)) {
      while (!free.try_acquire_for(20us)) {
      }
    } else {
      free.acquire();
    }
    if (++inside > permits) p.s.wrong(p.n, "more have passed a semaphore than it has permits");
    results[k] = attempt(p.s, *p.children[k]);
    --inside;
    free.release();
  });
  settle(p, results.data());
}

void channel(part const& p) {
  outcomes results;
  struct message {
    std::size_t from;
    outcome what;
    token here;
  };
  nopal::channel<message> ch{1 + p.n.salt % 3};
  std::atomic<std::size_t> producers{p.size()};
  auto const produces = [&](std::size_t k) {
    ch.push(message{k, attempt(p.s, *p.children[k]), token{p.s}});
    if (--producers == 0) ch.close();
  };
  counter left;
  spawning(left, [&] {
    each(p, left, produces);
    std::size_t received = 0;
    auto const receive = [&] {
      while (auto const m = ch.pop()) {
        results[m->from] = m->what;
        ++received;
      }
    };
    if (p.size() != 0) receive();
    if (received != p.size()) p.s.wrong(p.n, "a channel has lost a message, or doubled it");
  });
  settle(p, results.data());
}

void condition(part const& p) {
  outcomes results;
  nopal::mutex m;
  nopal::condition_variable changed;
  std::size_t turn = 0;
  each(p, [&](std::size_t k) {
    results[k] = attempt(p.s, *p.children[k]);
    std::unique_lock lock{m};
    auto const mine = [&] { return turn == k; };
    if (p.n.bit(k)) {
      while (!changed.wait_for(lock, 20us, mine)) {
      }
    } else {
      changed.wait(lock, mine);
    }
    if (turn != k || !lock.owns_lock()) p.s.wrong(p.n, "out of turn");
    ++turn;
    changed.notify_all();
  });
  if (turn != p.size()) p.s.wrong(p.n, "a turn was lost");
  settle(p, results.data());
}

void rendezvous(part const& p) {
  outcomes results;
  std::array<counter, node::most_children> come;
  for (std::size_t k = 0; k < p.size(); ++k) come[k].add();
  each(p, [&](std::size_t k) {
    std::size_t const partner = k ^ 1;
    come[k].done();
    if (partner < p.size()) {
      wait_for(come[partner]);
      if (come[partner].load() != 0) p.s.wrong(p.n, "a partner has not come");
    }
    results[k] = attempt(p.s, *p.children[k]);
  });
  settle(p, results.data());
}

void detach(part const& p) {
  outcomes results;
  counter left;
  spawning(left, [&] {
    for (std::size_t k = 0; k < p.size(); ++k) {
      left.add();
      try {
        p.s.pool(p.n.bit(k) ? 1 : 0).detach([&, k, here = std::optional<token>{p.s}]() mutable {
          results[k] = attempt(p.s, *p.children[k]);
          here.reset();  // the closure itself is destroyed later
          left.done();
        });
      } catch (...) {
        left.done();
        throw;
      }
    }
  });
  settle(p, results.data());
}

struct c_fiber {
  part const* p;
  std::size_t k;
  outcome* slot;
  static void run(void* arg) {
    auto const& self = *static_cast<c_fiber*>(arg);
    if (self.p->n.bit(self.k)) nopal_yield();
    *self.slot = attempt(self.p->s, *self.p->children[self.k]);
  }
};
void c_spawn(part const& p) {
  outcomes results;
  std::array<c_fiber, node::most_children> fibers;
  nopal_counter left;
  nopal_counter_init(&left, 0);
  bool failed = false;
  for (std::size_t k = 0; k < p.size(); ++k) {
    fibers[k] = {&p, k, &results[k]};
    failed |= nopal_spawn(&left, c_fiber::run, &fibers[k]) != NOPAL_OK;
  }
  if (p.n.bit(0)) {
    while (nopal_wait_for(&left, 0, 50'000) != NOPAL_OK) {
    }
  }
  failed |= nopal_wait(&left, 0) != NOPAL_OK;
  nopal_counter_destroy(&left);
  if (failed) p.s.wrong(p.n, "a C function has failed");
  settle(p, results.data());
}

}  // namespace

void by_fibers(part const& p) {
  switch (p.n.how) {
    case way::timed: return timed(p);
    case way::values: return values(p);
    case way::mutex: return mutex(p);
    case way::semaphore: return semaphore(p);
    case way::channel: return channel(p);
    case way::condition: return condition(p);
    case way::rendezvous: return rendezvous(p);
    case way::detach: return detach(p);
    case way::c_spawn: return c_spawn(p);
    default: return spawn(p);
  }
}

}  // namespace soak
