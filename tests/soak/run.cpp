#include "run.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"

namespace soak {

namespace {

/// A node runs. Its parent must not get a result before the node has ended.
class visit {
 public:
  visit(site& s, node const& n) : token_{s}, parent_{n.parent} {
    if (parent_ != nullptr) ++parent_->active_children;
    ++n.runs;
  }
  visit(visit const&) = delete;
  visit& operator=(visit const&) = delete;
  ~visit() {
    if (parent_ != nullptr) --parent_->active_children;
  }

 private:
  token token_;
  node const* parent_;
};

/// Nodes take different times, so that thieves take each of them at times.
void dawdle(site& s, node const& n) {
  if (n.salt % 16 == 3) {
    auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds{n.salt % 64};
    while (std::chrono::steady_clock::now() < until) {
    }
  } else if (n.salt % 32 == 4) {
    std::this_thread::yield();
  } else if (n.salt == 5) {
    if (s.pool(n.id).stats().success_rate() > 1) s.wrong(n, "more steals than attempts");
  } else if (n.salt == 6) {
    if (s.pool(n.id).report().empty()) s.wrong(n, "an empty report");
  }
}

/// Shared by both kinds of node, without the children.
class course {
 public:
  course(site& s, node const& n) : s_{s}, n_{n}, value_{mix(n.id)} {
    s_.forks[static_cast<std::size_t>(n.how)].fetch_add(n.children.size(), std::memory_order_relaxed);
    if (n_.throws_first) throw numbered{n_.first(), s_.alive};
  }
  part of(std::size_t k) { return {s_, n_, n_.part(k), values_.data(), k == 0}; }
  bool has(std::size_t k) const noexcept { return k == 0 || !n_.part(k).empty(); }

  void joined(std::size_t k) {
    look_for_children();
    std::size_t const many = n_.part(k).size();
    for (std::size_t c = 0; c < many; ++c) value_ = node::fold(value_, values_[c]);
    values_ = {};
  }
  void caught(numbered const& e) {
    look_for_children();
    if (!n_.catches) throw;
    value_ = node::fold_caught(value_, e.number);
    values_ = {};
  }
  std::uint64_t end() const {
    if (n_.expected.thrown == 0 && value_ != n_.expected.value) s_.wrong(n_, "another value than the serial run's");
    if (n_.throws_last) throw numbered{n_.last(), s_.alive};
    return value_;
  }

 private:
  void look_for_children() const {
    if (n_.active_children != 0) s_.wrong(n_, "joined while children still run");
  }

  site& s_;
  node const& n_;
  std::uint64_t value_;
  std::array<std::uint64_t, node::most_children> values_{};
};

void by(part const& p) {
  if (is_fiber(p.n.how)) return by_fibers(p);
  has_company(p.n.how) ? by_company(p) : by_functions(p);
}

}  // namespace

std::uint64_t natively(site& s, node const& n) {
  if (is_task(n.how)) return n.bit(5) ? nopal::sync_wait(as_task, s, n) : s.pool(n.id).run(as_task, s, n);
  visit const here{s, n};
  dawdle(s, n);
  course c{s, n};
  for (std::size_t k = 0; k < 2 && c.has(k); ++k) {
    try {
      by(c.of(k));
      c.joined(k);
    } catch (numbered const& e) {
      c.caught(e);
    }
  }
  return c.end();
}

nopal::task<std::uint64_t> as_task(site& s, node const& n) {
  if (!is_task(n.how)) co_return natively(s, n);
  visit const here{s, n};
  dawdle(s, n);
  course c{s, n};
  for (std::size_t k = 0; k < 2 && c.has(k); ++k) {
    part const p = c.of(k);
    try {
      co_await nopal::call(by_tasks, p);
      c.joined(k);
    } catch (numbered const& e) {
      c.caught(e);
    }
  }
  co_return c.end();
}

outcome attempt(site& s, node const& n) {
  try {
    return {natively(s, n), 0};
  } catch (numbered const& e) {
    return {0, e.number};
  }
}

void settle(part const& p, outcome const* outcomes) {
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (outcomes[k].thrown != 0) throw numbered{outcomes[k].thrown, p.s.alive};
    p.values[k] = outcomes[k].value;
  }
}

std::uint64_t run(site& s, program const& p) {
  node const& root = p.root();
  switch (p.start() % 4) {
    case 0: return s.pool(0).run(as_task, s, root);
    case 1: return s.pool(0).run(natively, s, root);
    case 2: return s.pool(0).submit(as_task, s, root).get();
    default: return s.pool(0).submit(natively, s, root).get();
  }
}

}  // namespace soak
