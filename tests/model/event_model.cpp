// The shipped event under every interleaving and stale value. The waiter destroys it at once.

#include <gtest/gtest.h>

#include "waits.hpp"

namespace {

using model::check;
using model::event;
using model::few_spins;
using model::made;
using model::program;
using model::scenario;
using model::var;
using model::waiting;

/// As scheduler::wait, from a stack.
void await(event& e) {
  if (e.is_set()) return;
  model::left_stack me;
  me.leave([&] { return e.await(me); });
}

struct letter {
  var<int> text{0};
  std::optional<event> arrived{std::in_place};

  void send() {
    text.set(1);
    arrived->set();
  }
  void read() { check(text.get() == 1, "who waited sees what came before set"); }
};

template <class Reader>
scenario one_reader(char const* name, Reader reader) {
  return waiting(name, 0, [reader](program& p) {
    auto& l = p.make<letter>();
    p.thread([&l] { l.send(); });
    p.thread([&l, reader] {
      reader(*l.arrived);
      l.read();
      l.arrived.reset();
    });
  });
}
template <class First, class Second>
scenario two_readers(char const* name, First first, Second second) {
  return waiting(
      name, 0,
      [=](program& p) {
        auto& l = p.make<letter>();
        auto& left = p.make<model::atomic<int>>(2);
        auto const end = [&] {
          l.read();
          if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) l.arrived.reset();
        };
        p.thread([&l] { l.send(); });
        p.thread([&l, first, end] {
          first(*l.arrived);
          end();
        });
        p.thread([&l, second, end] {
          second(*l.arrived);
          end();
        });
      },
      few_spins);
}

auto const stack = [](event& e) { await(e); };
auto const thread = [](event& e) { e.wait(); };
auto const poller = [](event& e) {
  while (!e.is_set()) model::sync::yield();
};
auto const impatient = [](event& e) {
  if (!e.wait_for(1)) e.wait();
};
auto const clock_watcher = [](event& e) {
  while (!e.wait_for(1)) model::sync::yield();
};

std::vector<scenario> const scenarios{
    one_reader("a stack", stack),
    one_reader("a thread", thread),
    one_reader("a thread that looks", poller),
    one_reader("a thread that looks, and then sleeps", impatient),
    one_reader("a thread with many short naps", clock_watcher),
    two_readers("two stacks", stack, stack),
    two_readers("two threads", thread, thread),
    two_readers("a stack and a thread", stack, thread),
    // Another thread that resumes the stack sees what it has written.
    waiting("a stack that moves", 0,
            [](program& p) {
              auto& l = p.make<letter>();
              auto& on_stack = p.make<var<int>>(0);
              p.thread([&] { l.send(); });
              p.thread([&] {
                on_stack.set(1);
                await(*l.arrived);
                on_stack.set(2);
                l.arrived.reset();
              });
            }),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(event, "event.hpp")

}  // namespace
