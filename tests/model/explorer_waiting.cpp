// Threads that wait for others, and values of any choice.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine.hpp"

namespace model {

void engine::relax(where const& at) {
  if (in_main()) fail("setup and finally cannot wait");
  flush_delayed();
  thread_state& t = me();
  if (++t.spins > config_.spins) {
    ending_ = ending::cut;
    leave();
  }
  access a;
  a.what = access::await;
  for (int i = 0; i < t.looked; ++i) {
    auto const l = static_cast<std::size_t>(t.looks[static_cast<std::size_t>(i)].location);
    a.many[l / 64] |= std::uint64_t{1} << (l % 64);
  }
  before(a);
  look unused{}, seen{};
  int const n = news(t, -1, &unused);
  news(t, pick(n), &seen);
  t.now.location(seen.location) = std::max(t.now.location(seen.location), static_cast<stamp>(seen.message));
  t.looked = 0;
  if (depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.read = seen.message;
    done.written = seen.location;  // see relate
  }
  after(action::relax, std::memory_order_relaxed, at);
}

void engine::wait(int l, detail::raw expected, where const& at) {
  if (in_main()) fail("setup and finally cannot wait");
  flush_delayed();
  access a;
  a.what = access::sleep;
  a.at = l;
  before(a);
  location const& x = locations_[static_cast<std::size_t>(l)];
  detail::raw const v = x.messages[x.count - 1].value;
  thread_state& t = me();
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(x.newest()));
  after(action::wait, std::memory_order_relaxed, at).read = v;
  tick();
  if (v != expected) return;
  t.status = thread_state::asleep;
  t.sleeps_at = l;
  before(access{});
  t.status = thread_state::ready;
  after(action::woken, std::memory_order_relaxed, at);
}

void engine::wake(int l, bool all, where const& at) {
  flush_delayed();
  if (in_main()) return;
  access a;
  a.what = access::wake;
  a.at = l;
  before(a);
  std::array<int, most_threads> sleepers{};
  int n = 0;
  for (int q = 0; q < thread_count_; ++q) {
    thread_state const& t = threads_[static_cast<std::size_t>(q)];
    if (t.status == thread_state::asleep && t.sleeps_at == l) sleepers[static_cast<std::size_t>(n++)] = q;
  }
  int const first = all || n == 0 ? 0 : pick(n);
  int const last = all ? n : std::min(n, first + 1);
  for (int i = first; i < last; ++i) {
    thread_state& t = threads_[static_cast<std::size_t>(sleepers[static_cast<std::size_t>(i)])];
    t.status = thread_state::woken;
    t.next = access{};
    t.next.read = depth_ - 1;  // who woke it
  }
  after(action::wake, std::memory_order_relaxed, at).wrote = static_cast<detail::raw>(last - first);
  tick();
}

int engine::choose(int n, where const& at) {
  if (in_main()) {
    fail("setup and finally cannot choose");
    return 0;
  }
  flush_delayed();
  before(access{});
  int const v = pick(n);
  after(action::choose, std::memory_order_relaxed, at).read = static_cast<detail::raw>(v);
  return v;
}

}  // namespace model
