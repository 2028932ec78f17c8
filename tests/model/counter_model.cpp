// The shipped counter, its waiters and the threads that count it down, under every interleaving and stale value. In most programs one of
// the waiters destroys the counter at once.

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

#include "nopal/core/wait/basic_counter.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::few_spins;
using model::made;
using model::program;
using model::scenario;
using model::var;
using model::waiting;
using model::waits;
using counter = nopal::core::basic_counter<waits>;

void done(counter& c, std::int64_t n = 1) {
  if (!c.done_if_quiet(n)) c.done_slowly(n);
}

/// As ~counter does; then the memory belongs to others.
void destroy(std::optional<counter>& c) {
  if (!c->at_rest()) {
    c->close();
    check(!c->is_awaited() && c->load() <= 0, "nobody is left when it is destroyed");
    c->reopen();
  }
  c.reset();
}

std::exception_ptr const thrown = std::make_exception_ptr(std::runtime_error{"thrown"});

std::vector<scenario> const scenarios{
    waiting("one_done", 0,
            [](program& p) {
              auto& c = made<counter>(p, 1);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                d.set(1);
                done(*c);
              });
              p.thread([&] {
                c->wait(0);
                check(d.get() == 1, "who waits sees what came before done");
                destroy(c);
              });
            }),
    waiting("one_done_and_a_thread_that_sleeps", 2,
            [](program& p) {
              auto& c = made<counter>(p, 1);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                d.set(1);
                done(*c);
              });
              p.thread([&] {
                c->wait(0);
                check(d.get() == 1, "who waits sees what came before done");
                destroy(c);
              });
            }),
    waiting(
        "the_last_of_two", 0,
        [](program& p) {
          auto& c = made<counter>(p, 2);
          auto& d = p.make<std::array<var<int>, 2>>();
          for (std::size_t i = 0; i < 2; ++i) {
            p.thread([&, i] {
              d[i].set(1);
              done(*c);
            });
          }
          p.thread([&] {
            c->wait(0);
            check(d[0].get() + d[1].get() == 2, "who waits sees what came before every done");
            destroy(c);
          });
        },
        few_spins),
    waiting(
        "two_targets", 0,
        [](program& p) {
          auto& c = made<counter>(p, 2);
          auto& d = p.make<std::array<var<int>, 2>>();
          p.thread([&] {
            d[0].set(1);
            done(*c);
            d[1].set(1);
            done(*c);
          });
          p.thread([&] {
            c->wait(1);
            check(d[0].get() == 1, "who waits for the first done sees what came before");
          });
          p.thread([&] {
            c->wait(0);
            check(d[1].get() == 1, "who waits for the second done sees what came before");
          });
          p.finally([&] { destroy(c); });
        },
        few_spins),
    waiting(
        "two_for_the_same", 0,
        [](program& p) {
          auto& c = made<counter>(p, 1);
          auto& d = p.make<var<int>>(0);
          p.thread([&] {
            d.set(1);
            done(*c);
          });
          for (int i = 0; i < 2; ++i) {
            p.thread([&] {
              c->wait(0);
              check(d.get() == 1, "each sees it");
            });
          }
          p.finally([&] { destroy(c); });
        },
        few_spins),
    waiting(
        "two_at_once", 0,
        [](program& p) {
          auto& c = made<counter>(p, 3);
          p.thread([&] { done(*c, 2); });
          p.thread([&] { c->wait(1); });
          p.thread([&] {
            c->wait(2);
            done(*c);
          });
          p.finally([&] { destroy(c); });
        },
        few_spins),
    waiting("up_and_down", 0,
            [](program& p) {
              auto& c = made<counter>(p, 1);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                c->add(1);
                done(*c);
                d.set(1);
                done(*c);
              });
              p.thread([&] {
                c->wait(0);
                check(d.get() == 1, "it comes to 0 once");
                destroy(c);
              });
            }),
    waiting(
        "a_limit_against_done", 0,
        [](program& p) {
          auto& c = made<counter>(p, 1);
          auto& d = p.make<var<int>>(0);
          p.thread([&] {
            d.set(1);
            done(*c);
          });
          p.thread([&] {
            if (!c->wait_until(0, waits::soon)) c->wait(0);
            check(d.get() == 1, "in time or not");
            destroy(c);
          });
          p.thread([] { waits::timer_entry::expire(); });
        },
        few_spins),
    waiting("a_limit_of_a_thread", 2,
            [](program& p) {
              auto& c = made<counter>(p, 1);
              auto& d = p.make<var<int>>(0);
              p.thread([&] {
                d.set(1);
                done(*c);
              });
              p.thread([&] {
                if (!c->wait_until(0, waits::soon)) {
                  while (c->load() > 0) model::sync::yield();
                }
                check(d.get() == 1, "in time or not");
                destroy(c);
              });
            }),
    waiting(
        "a_limit_beside_others", 0,
        [](program& p) {
          auto& c = made<counter>(p, 1);
          p.thread([&] { done(*c); });
          p.thread([&] { c->wait_until(0, waits::soon); });
          p.thread([&] { c->wait(0); });
          p.thread([] { waits::timer_entry::expire(); });
          p.finally([&] { destroy(c); });
        },
        few_spins),
    waiting(
        "thrown_before_done", 0,
        [](program& p) {
          auto& c = made<counter>(p, 2);
          p.thread([&] {
            c->failed(thrown);
            done(*c);
          });
          p.thread([&] { done(*c); });
          p.thread([&] {
            c->wait(0);
            check(c->take_exception() == thrown, "who waits gets what was thrown");
            check(c->take_exception() == nullptr, "once");
            destroy(c);
          });
        },
        few_spins),
    waiting(
        "thrown_twice", 0,
        [](program& p) {
          auto& c = made<counter>(p, 2);
          for (int i = 0; i < 2; ++i) {
            p.thread([&] {
              c->failed(thrown);
              done(*c);
            });
          }
          p.thread([&] {
            c->wait(0);
            check(c->take_exception() == thrown, "who waits gets what was thrown");
            destroy(c);
          });
        },
        few_spins),
    waiting(
        "spawned_by_the_owner", 0,
        [](program& p) {
          auto& c = made<counter>(p, 0, &p);
          auto& d = p.make<std::array<var<int>, 2>>();
          auto& spawned = p.make<std::array<model::atomic<int>, 2>>();
          p.thread([&] {
            for (auto& s : spawned) {
              c->add(1, &p);
              s.store(1, std::memory_order_release);
            }
            c->wait(0);
            check(d[0].get() + d[1].get() == 2, "who spawns and waits sees what both have done");
            destroy(c);
          });
          for (std::size_t i = 0; i < 2; ++i) {
            p.thread([&, i] {
              while (spawned[i].load(std::memory_order_acquire) == 0) model::sync::yield();
              d[i].set(1);
              done(*c);
            });
          }
        },
        few_spins),
    waiting(
        "the_owner_spawns_while_another_waits", 0,
        [](program& p) {
          auto& c = made<counter>(p, 1, &p);
          auto& d = p.make<std::array<var<int>, 2>>();
          auto& spawned = p.make<model::atomic<int>>(0);
          p.thread([&] {
            c->add(1, &p);
            spawned.store(1, std::memory_order_release);
            d[0].set(1);
            done(*c);
          });
          p.thread([&] {
            while (spawned.load(std::memory_order_acquire) == 0) model::sync::yield();
            d[1].set(1);
            done(*c);
          });
          p.thread([&] {
            c->wait(0);
            check(d[0].get() + d[1].get() == 2, "who waits sees what both have done");
            destroy(c);
          });
        },
        few_spins),
    waiting(
        "the_owner_spawns_while_another_looks", 0,
        [](program& p) {
          auto& c = made<counter>(p, 1, &p);
          auto& spawned = p.make<model::atomic<int>>(0);
          p.thread([&] {
            c->add(1, &p);
            spawned.store(1, std::memory_order_release);
            done(*c);
          });
          p.thread([&] {
            while (spawned.load(std::memory_order_acquire) == 0) model::sync::yield();
            done(*c);
          });
          p.thread([&] {
            for (int k = 0; k < 2; ++k) {
              std::int64_t const v = c->load();
              check(v >= 0 && v <= 2, "a value that it has had");
              if (v == 0) return destroy(c);  // no thread counts it any more
            }
          });
        },
        few_spins),
    waiting("up_and_down_while_another_looks", 0,
            [](program& p) {
              auto& c = made<counter>(p, 0, &p);
              p.thread([&] {
                for (int k = 0; k < 2; ++k) {
                  c->add(1, &p);
                  done(*c);
                }
              });
              p.thread([&] {
                std::int64_t const v = c->load();
                check(v == 0 || v == 1, "a value that it has had");
              });
              p.finally([&] { destroy(c); });
            }),
    waiting(
        "who_looks_may_destroy", 0,
        [](program& p) {
          auto& c = made<counter>(p, 2);
          p.thread([&] { done(*c); });
          p.thread([&] { done(*c); });
          p.thread([&] {
            c->wait(1);
            while (c->load() > 0) model::sync::yield();
            destroy(c);
          });
        },
        few_spins),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(counter, "basic_counter.hpp", "spin_lock.hpp", "waiter.hpp")

}  // namespace
