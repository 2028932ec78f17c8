#include "nopal/profile/signals.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "nopal/profile/not_kept.hpp"
#include "nopal/profile/totals.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

struct signalled {
  std::uint32_t region;
  point latest;
};
struct alignas(128) table {
  basic_spin_lock<std_sync> lock;
  std::unordered_map<void const*, signalled> things;
};
constexpr std::size_t tables = 64;
// Never destroyed: fibers may end after static objects.
table* all() noexcept {
  static table* const t = new table[tables];
  return t;
}
table& table_of(void const* what) noexcept {
  std::uint64_t const h = reinterpret_cast<std::uintptr_t>(what) / 8 * 0x9e3779b97f4a7c15;
  return all()[h >> 58];
}
// True once anything was signalled. relaxed: a signal of an object happens before the beginning of another at its address.
constinit std::atomic<bool> any{false};

}  // namespace

void signal_in_profile(void const* what, std::uint32_t region, point const& at) noexcept {
  any.store(true, std::memory_order_relaxed);  // relaxed: see above
  table& t = table_of(what);
  std::lock_guard const guard{t.lock};
  try {
    auto const [it, is_new] = t.things.try_emplace(what, signalled{region, at});
    signalled& s = it->second;
    if (is_new) return;
    if (s.region != region) {
      s = {region, at};
      return;
    }
    s.latest.burdened = std::max(s.latest.burdened, at.burdened);
    s.latest.if_free = std::max(s.latest.if_free, at.if_free);
    if (at.span <= s.latest.span) return;
    s.latest.span = at.span;
    s.latest.longest = at.longest;
  } catch (std::bad_alloc const&) {
    out_of_memory();
  }
}

void signal_from_here(void const* what) noexcept {
  procedure* const p = procedure_here();
  if (p == nullptr) return;
  p->leave();
  add_to_totals(p->in.region, p->site, {0, std::exchange(p->work, 0)});  // a waiter may read the totals before the caller ends
  signal_in_profile(what, p->in.region, p->start_of_child(p->site, nullptr, 0).at);
  p->come_back();
}

void begin_signals(void const* what) noexcept {
  if (!any.load(std::memory_order_relaxed)) return;  // relaxed: see above
  table& t = table_of(what);
  std::lock_guard const guard{t.lock};
  t.things.erase(what);
}

void forget_signals(std::uint32_t region) noexcept {
  for (std::size_t i = 0; i < tables; ++i) {
    std::lock_guard const guard{all()[i].lock};
    std::erase_if(all()[i].things, [&](auto const& thing) { return thing.second.region == region; });
  }
}

// Between leave and come_back of the caller: its clock stands still.
void procedure::follow_signals(void const* what) noexcept {
  table& t = table_of(what);
  point latest;
  {
    std::lock_guard const guard{t.lock};
    auto const it = t.things.find(what);
    if (it == t.things.end() || it->second.region != in.region) return;
    latest = it->second.latest;
  }
  follow(latest);
}

}  // namespace nopal::core
