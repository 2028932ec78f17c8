// Fences of each kind.

#include <atomic>

#include "engine.hpp"

namespace model {

void engine::fence(std::memory_order order, where const& at) {
  flush_delayed();
  bool removed = false;
  std::memory_order const o = effective(action::fence, order, at, removed);
  if (removed) return;
  bool const single = o == std::memory_order_seq_cst;
  access a;
  a.what = access::fence;
  a.single = single;
  thread_state& t = me();
  before(a);
  if (acquires(o) && t.has_later) {
    t.now.join(t.later, used());
    t.has_later = false;
  }
  if (single) {
    bool const only_learns = t.now.knows_no_more_than(single_, used());
    if (!in_main() && depth_ - 1 >= fresh_) nodes_[static_cast<std::size_t>(depth_ - 1)].e.done.only_learns = only_learns;
    t.now.join_locations(single_, used());
    single_.join_locations(t.now, used());
  }
  if (releases(o)) {
    t.fenced = t.now;
    t.has_fenced = true;
  }
  after(action::fence, o, at);
  tick();
}

void engine::light_fence(where const& at) {
  bool removed = false;
  effective(action::light_fence, std::memory_order_seq_cst, at, removed);
}

void engine::heavy_fence(where const& at) {
  flush_delayed();
  bool removed = false;
  effective(action::heavy_fence, std::memory_order_seq_cst, at, removed);
  if (removed) return;
  access a;
  a.what = access::heavy;
  before(a);
  // A fence of the caller, one of each other thread, and another of the caller. The fences of the others are not ordered among each other,
  // and give no happens-before: both allow more than the kernel does.
  thread_state& mine = me();
  mine.now.join_locations(single_, used());
  single_.join_locations(mine.now, used());
  view const first = single_;
  for (int q = 0; q < thread_count_; ++q) {
    if (q == self_) continue;
    thread_state& t = threads_[static_cast<std::size_t>(q)];
    t.now.join_locations(first, used());
    single_.join_locations(t.now, used());
  }
  mine.now.join_locations(single_, used());
  after(action::heavy_fence, std::memory_order_seq_cst, at);
  tick();
}

}  // namespace model
