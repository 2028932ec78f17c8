// Which thread runs next: the decisions that an execution takes, and the others that are left for later ones.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine.hpp"

namespace model {

int engine::news(thread_state const& t, int wanted, look* found) const noexcept {
  int n = 0;
  for (int i = 0; i < t.looked; ++i) {
    look const k = t.looks[static_cast<std::size_t>(i)];
    location const& l = locations_[static_cast<std::size_t>(k.location)];
    detail::raw const had = l.messages[static_cast<std::size_t>(k.message)].value;
    for (int m = std::max<int>(k.message + 1, t.now.location(k.location)); m <= l.newest(); ++m) {
      if (l.messages[static_cast<std::size_t>(m)].value == had) continue;
      if (n++ == wanted) *found = {k.location, m};
      break;
    }
  }
  return n;
}

bool engine::enabled(int t) const noexcept {
  thread_state const& s = threads_[static_cast<std::size_t>(t)];
  if (s.status == thread_state::done || s.status == thread_state::asleep) return false;
  if (s.next.what != access::await) return true;
  look unused;
  return news(s, -1, &unused) > 0;
}

namespace {
/// True if `e`, which has happened, keeps `o` of another thread from being what it was before. at_least: only for newer messages.
enum class effect { none, newer, full };
/// Both have a place in the single total order, and it matters which comes first.
bool in_order(access const& a, access const& b) noexcept { return a.single && b.single && !(a.only_learns && b.only_learns); }

effect affects(access const& e, access const& o) noexcept {
  using enum access::kind;
  if (e.what == nothing || o.what == nothing) return effect::none;
  if (e.what == heavy || o.what == heavy) return effect::full;
  if (e.what == fence || o.what == fence) return in_order(e, o) ? effect::full : effect::none;
  if (!meet(e, o)) return effect::none;
  if (e.writes()) return o.what == load && !in_order(e, o) ? effect::newer : effect::full;
  if (e.is_load()) return in_order(e, o) ? effect::full : effect::none;
  if (e.what == sleep) return o.what == write || o.what == change || o.what == wake ? effect::full : effect::none;
  if (e.what == wake) return o.what == sleep || o.what == wake ? effect::full : effect::none;
  return effect::full;
}

struct relation {
  bool ordered;   // the later one may need the earlier one
  bool reversed;  // the other order is another execution, which the later one's choices do not contain
};
relation relate(access const& e, access const& n) noexcept {
  using enum access::kind;
  if (e.what == nothing || n.what == nothing) return {false, false};
  if (e.what == heavy || n.what == heavy) return {true, true};
  bool const single = in_order(e, n);
  if (e.what == fence || n.what == fence) return {single, single};
  if (!meet(e, n)) return {false, false};
  if (e.writes()) {
    if (n.writes() || n.what == sleep) return {true, true};
    if (n.what == wake) return {false, false};
    if (n.what == failed_change) return {n.read >= e.written || single, true};
    if (n.what == await) return {n.at == -1 && n.read == e.written && e.at == n.written, false};  // which message it waited for
    return {n.read >= e.written || single, single};
  }
  if (e.is_load()) {
    if (n.writes()) return {single, true};
    return {single, single};
  }
  if (e.what == sleep) return {n.writes() || n.what == wake, n.writes() || n.what == wake};
  if (e.what == wake) return {n.what == sleep || n.what == wake, n.what == sleep || n.what == wake};
  return {false, false};
}
}  // namespace

void engine::put_asleep(node& n, node const& before) {
  auto const candidates = static_cast<std::uint8_t>(before.asleep | before.done);
  for (int q = 0; q < thread_count_; ++q) {
    auto const i = static_cast<std::size_t>(q);
    if (q == before.e.thread) continue;
    n.at_least[i] = before.e.done.what == access::heavy ? stamp{0} : before.at_least[i];
    if ((candidates >> q & 1) == 0) continue;
    thread_state& t = threads_[i];
    if (t.next.what == access::load && t.next.single)
      t.next.only_learns = locations_[static_cast<std::size_t>(t.next.at)].newest() <= single_.location(t.next.at);
    if (t.next.what == access::fence)
      t.next.only_learns = t.now.knows_no_more_than(single_, used()) && (!t.has_later || t.later.knows_no_more_than(single_, used()));
    switch (affects(before.e.done, t.next)) {
      case effect::none: n.asleep = static_cast<std::uint8_t>(n.asleep | 1 << q); break;
      case effect::newer: n.at_least[i] = static_cast<stamp>(before.e.done.written); break;
      case effect::full: n.at_least[i] = 0; break;
    }
  }
}

/// The thread that runs next; -1: the execution ends.
int engine::decide() {
  std::uint8_t on = 0, alive = 0;
  for (int t = 0; t < thread_count_; ++t) {
    if (threads_[static_cast<std::size_t>(t)].status != thread_state::done) alive = static_cast<std::uint8_t>(alive | 1 << t);
    if (enabled(t)) on = static_cast<std::uint8_t>(on | 1 << t);
  }
  if (on == 0) {
    if (alive == 0) {
      ending_ = ending::finished;
    } else {
      record_failure("deadlock: every thread that has not ended waits");
    }
    return -1;
  }
  if (depth_ >= config_.most_steps) {
    record_failure("an endless loop: more than most_steps steps");
    return -1;
  }
  if (static_cast<std::size_t>(depth_) == nodes_.size()) {
    node n;
    n.enabled = on;
    if (depth_ > 0) {
      node const& last = nodes_.back();
      n.preemptions = last.preemptions;
      if (config_.preemptions < 0 && config_.replay.empty()) put_asleep(n, last);
    }
    auto const awake = static_cast<std::uint8_t>(on & ~n.asleep);
    if (awake == 0) {
      ending_ = ending::redundant;
      return -1;
    }
    int const last = depth_ > 0 ? nodes_.back().chosen : -1;
    bool const stays = last >= 0 && (awake >> last & 1) != 0;
    n.chosen = stays ? last : std::countr_zero(awake);
    n.todo = static_cast<std::uint8_t>(1 << n.chosen);
    if (config_.preemptions >= 0 && (!stays || n.preemptions < config_.preemptions)) n.todo = on;
    if (!config_.replay.empty()) {
      auto const d = static_cast<std::size_t>(depth_);
      if (d < replay_.size()) {
        n.chosen = replay_[d].first;
        n.value = replay_[d].second;
        if ((on >> n.chosen & 1) == 0) {
          record_failure("the choices to be replayed do not fit this program");
          return -1;
        }
      }
    }
    nodes_.push_back(n);
  } else if (nodes_[static_cast<std::size_t>(depth_)].enabled != on) {
    record_failure("the program is not the same each time: other threads can run than in the execution before");
    return -1;
  }
  node& n = nodes_[static_cast<std::size_t>(depth_++)];
  if (config_.preemptions >= 0 && depth_ > 1) {
    node const& last = nodes_[static_cast<std::size_t>(depth_ - 2)];
    n.preemptions = last.preemptions + (n.chosen != last.chosen && (on >> last.chosen & 1) != 0 ? 1 : 0);
  }
  return n.chosen;
}

void engine::before(access const& a) {
  if (in_main()) return;
  int const caller = self_;
  threads_[static_cast<std::size_t>(caller)].next = a;
  int const next = decide();
  if (next < 0) leave();
  if (next != caller) {
    self_ = next;
    nopal::core::switch_to(threads_[static_cast<std::size_t>(caller)].context, threads_[static_cast<std::size_t>(next)].context);
  }
  arrive();
}

/// The caller is the chosen thread: the one that switched here has stored it in self_.
void engine::arrive() {
  node& n = nodes_[static_cast<std::size_t>(depth_ - 1)];
  thread_state& t = me();
  ++t.events;
  ++result_.steps;
  if (depth_ - 1 >= fresh_) {
    n.e.thread = self_;
    n.e.index = t.events;
    n.e.done = t.next;
  }
}

/// Any of n values for the event under way.
int engine::pick(int n) {
  if (in_main()) return 0;
  node& d = nodes_[static_cast<std::size_t>(depth_ - 1)];
  if (depth_ - 1 >= fresh_) d.values = n;
  if (d.value >= n) fail("the choices to be replayed do not fit this program");
  return d.value;
}

event& engine::after(action a, std::memory_order o, where const& at) {
  static event ignored;
  if (in_main()) return ignored = event{};
  int const index = depth_ - 1;
  event& e = nodes_[static_cast<std::size_t>(index)].e;
  e.what = a;
  e.order = o;
  e.at = at;
  e.newest = e.done.at >= 0 ? locations_[static_cast<std::size_t>(e.done.at)].newest() : 0;
  if (index >= fresh_) find_races(index);
  me().last_event = index;
  return e;
}

void engine::find_races(int index) {
  event& n = nodes_[static_cast<std::size_t>(index)].e;
  thread_state& t = me();
  auto const self = static_cast<std::size_t>(n.thread);
  n.clock = t.last_event >= 0 ? nodes_[static_cast<std::size_t>(t.last_event)].e.clock : std::array<stamp, most_threads>{};
  n.clock[self] = static_cast<stamp>(n.index);
  races_.clear();
  bool const reduce = config_.preemptions < 0;
  if (!reduce) return;
  for (int i = index - 1; i >= 0; --i) {
    event const& e = nodes_[static_cast<std::size_t>(i)].e;
    if (e.thread == n.thread) continue;
    if (n.clock[static_cast<std::size_t>(e.thread)] >= e.index) continue;
    if (n.what == action::woken) {  // only the thread that woke it
      if (n.done.read == i)
        for (std::size_t k = 0; k < most_threads; ++k) n.clock[k] = std::max(n.clock[k], e.clock[k]);
      continue;
    }
    relation const r = relate(e.done, n.done);
    if (r.reversed) races_.push_back(i);
    if (r.ordered)
      for (std::size_t k = 0; k < most_threads; ++k) n.clock[k] = std::max(n.clock[k], e.clock[k]);
  }
  for (int const i : races_) add_backtrack(i, index);
}

void engine::add_backtrack(int earlier, int later) {
  node& d = nodes_[static_cast<std::size_t>(earlier)];
  event const& e = d.e;
  // The threads that could begin with what need not follow `earlier`, up to the later one of the race.
  std::uint8_t begun = 0, can = 0;
  kept_.clear();
  for (int i = earlier + 1; i <= later; ++i) {
    event const& f = nodes_[static_cast<std::size_t>(i)].e;
    if (i != later && f.clock[static_cast<std::size_t>(e.thread)] >= e.index) continue;
    if ((begun >> f.thread & 1) == 0) {
      begun = static_cast<std::uint8_t>(begun | 1 << f.thread);
      bool first = true;
      for (int const g : kept_) {
        event const& x = nodes_[static_cast<std::size_t>(g)].e;
        first = first && f.clock[static_cast<std::size_t>(x.thread)] < x.index;
      }
      if (first) can = static_cast<std::uint8_t>(can | 1 << f.thread);
    }
    kept_.push_back(i);
  }
  if ((can & d.todo) != 0) return;
  can &= d.enabled;
  if (can == 0) {
    d.todo |= d.enabled;
    return;
  }
  int const racer = nodes_[static_cast<std::size_t>(later)].e.thread;
  d.todo = static_cast<std::uint8_t>(d.todo | ((can >> racer & 1) != 0 ? 1 << racer : 1 << std::countr_zero(can)));
}

/// The next execution differs in the last decision that has a choice left. False: there is none.
bool engine::advance() {
  while (!nodes_.empty()) {
    node& n = nodes_.back();
    if (++n.value < n.values) break;
    n.value = 0;
    n.values = 1;
    n.done = static_cast<std::uint8_t>(n.done | 1 << n.chosen);
    auto const left = static_cast<std::uint8_t>(n.todo & ~n.done & ~n.asleep);
    if (left != 0) {
      n.chosen = std::countr_zero(left);
      break;
    }
    nodes_.pop_back();
  }
  fresh_ = static_cast<int>(nodes_.size()) - 1;
  return !nodes_.empty();
}

}  // namespace model
