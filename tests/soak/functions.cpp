// Children of ordinary functions.

#include <cstdlib>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/nopal.h"
#include "run.hpp"

namespace soak {

namespace {

void child(part const& p, std::size_t k) { p.values[k] = natively(p.s, *p.children[k]); }

void invoke(part const& p, std::size_t from, std::size_t to) {
  auto const one = [&](std::size_t k) { return [&p, k = from + k, here = token{p.s}] { child(p, k); }; };
  switch (to - from) {
    case 0: break;
    case 1: nopal::parallel_invoke(one(0)); break;
    case 2: nopal::parallel_invoke(one(0), one(1)); break;
    case 3: nopal::parallel_invoke(one(0), one(1), one(2)); break;
    case 4: nopal::parallel_invoke(one(0), one(1), one(2), one(3)); break;
    case 5: nopal::parallel_invoke(one(0), one(1), one(2), one(3), one(4)); break;
    default: nopal::parallel_invoke([&p, k = from] { child(p, k); }, [&p, k = from + 1] { child(p, k); }, [&] { invoke(p, from + 2, to); });
  }
}

/// Calls f() while another exception is handled, which must be the same one afterwards.
template <class F>
void in_a_handler(part const& p, F f) {
  try {
    throw numbered{p.n.id, p.s.alive};
  } catch (numbered const&) {
    f();
    try {
      throw;
    } catch (numbered const& e) {
      if (e.number != p.n.id) p.s.wrong(p.n, "another exception is being handled after the join");
    }
  }
}

void fork_child(nopal::scope& s, part const& p, std::size_t k) {
  s.fork([&p, k, here = token{p.s}] { child(p, k); });
}

void scope(part const& p) {
  nopal::scope s;
  for (std::size_t k = 0; k < p.size(); ++k) {
    fork_child(s, p, k);
    if (p.n.bit(k)) s.join();
  }
  s.join();
}

void scope_left(part const& p) {
  nopal::scope s;
  for (std::size_t k = 0; k < p.size(); ++k) fork_child(s, p, k);
}

void scope_thrown(part const& p) {
  nopal::scope s;
  for (std::size_t k = 0; k < p.size(); ++k) fork_child(s, p, k);
  if (p.throws_between()) throw numbered{p.n.between(), p.s.alive};
  s.join();
}

/// Serial code that calls back repeatedly: each time some of the children run.
struct callback {
  part const& p;
  std::size_t next = 0;
  std::exception_ptr thrown = {};

  void operator()() {
    std::size_t const from = std::exchange(next, std::min(next + 1 + p.n.salt % 3, p.size()));
    invoke(p, from, next);
  }
  void rest() {
    while (next < p.size()) (*this)();
  }
  static constexpr std::size_t keys = 8;
  static std::array<std::uint64_t, keys> some(node const& n) {
    std::array<std::uint64_t, keys> a{};
    for (std::size_t k = 0; k < keys; ++k) a[k] = mix(n.id + k);
    return a;
  }
};

void sort(part const& p) {
  auto keys = callback::some(p.n);
  callback back{p};
  std::sort(keys.begin(), keys.end(), [&](std::uint64_t a, std::uint64_t b) {
    back();
    return a < b;
  });
  back.rest();
  if (!std::is_sorted(keys.begin(), keys.end())) p.s.wrong(p.n, "not sorted");
}

int compare(void const* a, void const* b, void* data) {
  auto& back = *static_cast<callback*>(data);
  if (back.thrown == nullptr) {  // none may leave through a C function
    try {
      back();
    } catch (...) {
      back.thrown = std::current_exception();
    }
  }
  auto const x = *static_cast<std::uint64_t const*>(a), y = *static_cast<std::uint64_t const*>(b);
  return x < y ? -1 : x > y ? 1 : 0;
}
void quicksort(part const& p) {
  auto keys = callback::some(p.n);
  callback back{p};
  ::qsort_r(keys.data(), keys.size(), sizeof keys[0], compare, &back);
  if (back.thrown != nullptr) std::rethrow_exception(back.thrown);
  back.rest();
  if (!std::is_sorted(keys.begin(), keys.end())) p.s.wrong(p.n, "not sorted");
}

void runs(part const& p) {
  for (std::size_t k = 0; k < p.size(); ++k) {
    nopal::pool& pool = p.s.pool(p.n.bit(k) ? 1 : 0);
    p.values[k] = p.n.bit(k + 3) ? pool.run(as_task, p.s, *p.children[k]) : pool.run(natively, p.s, *p.children[k]);
  }
}

void submits(part const& p) {
  std::vector<nopal::future<std::uint64_t>> futures;
  std::exception_ptr thrown;
  try {
    futures.reserve(p.size());
    for (std::size_t k = 0; k < p.size(); ++k) {
      nopal::pool& pool = p.s.pool(p.n.bit(k) ? 1 : 0);
      futures.push_back(p.n.bit(k + 3) ? pool.submit(as_task, p.s, *p.children[k]) : pool.submit(natively, p.s, *p.children[k]));
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  std::exception_ptr first;
  for (std::size_t k = 0; k < futures.size(); ++k) {
    try {
      if (p.n.bit(k + 5)) futures[k].wait();
      p.values[k] = futures[k].get();
      if (futures[k].valid()) p.s.wrong(p.n, "a future is valid after its get");
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

void threads(part const& p) {
  std::array<outcome, node::most_children> outcomes;
  std::array<std::thread, node::most_children> all;
  nopal::counter left, go{1};
  std::exception_ptr thrown;
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      all[k] = std::thread{[&, k] {
        nopal::wait_for(go);  // the thread sleeps
        if (p.n.bit(k) || !p.s.default_pool) {
          outcomes[k] = p.s.pool(k).run(attempt, p.s, *p.children[k]);
        } else {
          nopal::parallel_invoke([&] { outcomes[k] = attempt(p.s, *p.children[k]); }, [] {});  // on the default pool
        }
        left.done();
      }};
      left.add();
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  go.done();
  nopal::wait_for(left);
  for (std::thread& t : all) {
    if (t.joinable()) t.join();
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
  settle(p, outcomes.data());
}

struct c_child {
  part const* p;
  std::size_t k;
  outcome* slot;
  static void run(void* arg) {
    auto const& self = *static_cast<c_child*>(arg);
    *self.slot = attempt(self.p->s, *self.p->children[self.k]);
  }
};
void c_scope(part const& p) {
  std::array<outcome, node::most_children> outcomes;
  std::array<c_child, node::most_children> children;
  bool failed = false;
  nopal_scope s;
  nopal_scope_init(&s);
  for (std::size_t k = 0; k < p.size(); ++k) {
    children[k] = {&p, k, &outcomes[k]};
    failed |= nopal_fork(&s, c_child::run, &children[k]) != NOPAL_OK;
    if (p.n.bit(k)) failed |= nopal_join(&s) != NOPAL_OK;
  }
  failed |= nopal_join(&s) != NOPAL_OK;
  if (failed) throw std::bad_alloc{};  // nothing else can have gone wrong: under the name that a program may end with
  settle(p, outcomes.data());
}

}  // namespace

void by_functions(part const& p) {
  switch (p.n.how) {
    case way::invoke: return invoke(p, 0, p.size());
    case way::invoke_caught: return in_a_handler(p, [&] { invoke(p, 0, p.size()); });
    case way::scope: return scope(p);
    case way::scope_left: return in_a_handler(p, [&] { scope_left(p); });
    case way::scope_thrown: return scope_thrown(p);
    case way::sort: return sort(p);
    case way::quicksort: return quicksort(p);
    case way::sync_waits:
      for (std::size_t k = 0; k < p.size(); ++k) p.values[k] = nopal::sync_wait(as_task, p.s, *p.children[k]);
      return;
    case way::runs: return runs(p);
    case way::submits: return submits(p);
    case way::threads: return threads(p);
    case way::c_scope: return c_scope(p);
    default:
      for (std::size_t k = 0; k < p.size(); ++k) child(p, k);
  }
}

}  // namespace soak
