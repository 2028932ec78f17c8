// Children as coroutines.

#include <array>
#include <exception>

#include "../scale.hpp"
#include "nopal/eventually.hpp"
#include "nopal/fiber.hpp"
#include "nopal/scratch.hpp"
#include "run.hpp"

namespace soak {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

namespace {

/// A child's argument. That of a torn one cannot be copied.
struct ticket {
  site* s;
  node const* n;
  token here;

  ticket(site& where, node const& who) : s{&where}, n{&who}, here{where} {}
  ticket(ticket const& o) : s{o.s}, n{o.n}, here{o.here} {
    if (n->tears) throw numbered{n->torn(), s->alive};
  }
};
task<std::uint64_t> with_ticket(ticket t) { co_return co_await call(as_task, *t.s, *t.n); }

/// A result without a default constructor.
struct boxed {
  std::uint64_t value;
  token here;
  boxed(std::uint64_t v, site& s) : value{v}, here{s} {}
};
task<boxed> as_boxed(site& s, node const& n) {
  std::uint64_t const v = co_await call(as_task, s, n);
  co_return boxed{v, s};
}

task<> stores(site& s, node const& n, std::uint64_t* slot) { co_await call(slot, as_task, s, n); }

task<> attempts(site& s, node const& n, outcome* slot) {
  try {
    slot->value = co_await call(as_task, s, n);
  } catch (numbered const& e) {
    slot->thrown = e.number;
  }
}

task<> forks(part const& p) {
  std::exception_ptr own;  // thrown between fork and join: it has to wait for the join
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      node const& c = *p.children[k];
      switch ((p.n.salt + k) % 6) {
        case 0: co_await call(&p.values[k], as_task, p.s, c); break;
        case 1: p.values[k] = co_await call(as_task, p.s, c); break;
        case 2: p.values[k] = natively(p.s, c); break;
        case 3: co_await fork(stores, p.s, c, &p.values[k]); break;
        default: co_await fork(&p.values[k], as_task, p.s, c); break;
      }
    }
    if (p.throws_between() && p.n.how == way::forks) throw numbered{p.n.between(), p.s.alive};
  } catch (...) {
    own = std::current_exception();
  }
  co_await join;
  if (own != nullptr) std::rethrow_exception(own);
}

task<> tickets(part const& p) {
  std::exception_ptr own;
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      ticket const t{p.s, *p.children[k]};
      if (p.n.bit(k)) {
        co_await call(&p.values[k], with_ticket, t);
      } else {
        co_await fork(&p.values[k], with_ticket, t);
      }
    }
  } catch (...) {
    own = std::current_exception();
  }
  co_await join;
  if (own != nullptr) std::rethrow_exception(own);
}

task<> eventually(part const& p) {
  std::array<nopal::eventually<boxed>, node::most_children> slots;
  std::exception_ptr own;
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (p.n.bit(k)) {
        co_await call(&slots[k], as_boxed, p.s, *p.children[k]);
      } else {
        co_await fork(&slots[k], as_boxed, p.s, *p.children[k]);
      }
    }
  } catch (...) {
    own = std::current_exception();
  }
  co_await join;
  if (own != nullptr) std::rethrow_exception(own);
  for (std::size_t k = 0; k < p.size(); ++k) p.values[k] = slots[k]->value;
}

task<> scratch(part const& p) {
  auto const guard = co_await nopal::stack_array<std::uint64_t>(1 + p.n.salt * p.n.salt % 3000);
  for (std::uint64_t& g : guard) g = p.n.id;
  auto const slots = co_await nopal::stack_array<std::uint64_t>(p.size() + 1);
  std::exception_ptr own;
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (p.n.bit(k)) {
        co_await call(&slots[k], as_task, p.s, *p.children[k]);
      } else {
        co_await fork(&slots[k], as_task, p.s, *p.children[k]);
      }
    }
  } catch (...) {
    own = std::current_exception();
  }
  co_await join;
  if (own != nullptr) std::rethrow_exception(own);
  for (std::size_t k = 0; k < p.size(); ++k) p.values[k] = slots[k];
  for (std::uint64_t const g : guard) {
    if (g != p.n.id) p.s.wrong(p.n, "somebody has written into its scratch memory");
  }
}

task<> moves_to(part const& p, std::size_t where) {
  nopal::pool& pool = p.s.pool(where % 16 == 0 ? 1 : 0);
  if (where % 5 == 0) {
    co_await nopal::resume_on(pool);
  } else {
    nopal::worker_ref const there = pool.worker(static_cast<unsigned>(where % pool.workers()));
    co_await nopal::resume_on(there);
    if (nopal::this_worker::index() != there.index()) p.s.wrong(p.n, "on another worker than it has asked for");
  }
}
task<> moves(part const& p) {
  if (p.n.bit(0)) {
    co_await call(moves_to, p, p.n.salt);
    co_await call(forks, p);
    co_await call(moves_to, p, p.n.salt / 2);
  } else {
    nopal::pool& pool = p.s.pool(0);
    co_await nopal::resume_on(pool.worker(p.n.salt % pool.workers()));
    co_await call(forks, p);
  }
}

task<> reaches(part const& p) {
  std::array<outcome, node::most_children> outcomes;
  nopal::counter left;
  std::exception_ptr own;
  try {
    for (std::size_t k = 0; k < p.size(); ++k) {
      outcome* const slot = &outcomes[k];
      if (p.n.bit(k)) {
        nopal::spawn(left, [&s = p.s, &c = *p.children[k], slot, here = token{p.s}] { *slot = attempt(s, c); });
      } else {
        co_await fork(attempts, p.s, *p.children[k], slot);
      }
    }
  } catch (...) {
    own = std::current_exception();
  }
  try {
    co_await left.reaches(0);
  } catch (...) {
    if (own == nullptr) own = std::current_exception();
  }
  co_await join;
  if (own != nullptr) std::rethrow_exception(own);
  settle(p, outcomes.data());
}

/// Sometimes longer than the native stack allows forks to nest.
unsigned trunk_length(node const& n) {
  if (n.salt % 32 != 0) return n.salt % 32;
  return test::sanitized ? n.salt : n.salt * 8;
}
task<> trunk(part const& p, unsigned length) {
  if (length == 0) {
    co_await call(forks, p);
  } else if (length % 7 == 0) {
    co_await call(trunk, p, length - 1);
  } else {
    co_await fork(trunk, p, length - 1);
    co_await join;
  }
}

}  // namespace

task<> by_tasks(part const& p) {
  switch (p.n.how) {
    case way::tickets: co_await call(tickets, p); break;
    case way::eventually: co_await call(eventually, p); break;
    case way::scratch: co_await call(scratch, p); break;
    case way::moves: co_await call(moves, p); break;
    case way::reaches: co_await call(reaches, p); break;
    case way::trunk: co_await call(trunk, p, trunk_length(p.n)); break;
    default: co_await call(forks, p); break;
  }
}

}  // namespace soak
