#include "nopal/profile/procedure.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/process.hpp"
#include "profile/src/tables.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// What the hooks themselves add to a measurement, in ticks: from one reading of the clock to the next, with nothing between.
constinit std::atomic<std::uint64_t> hook_time{0};

// ---- Signals.

struct signalled {
  std::uint32_t region;
  point latest;
};
// By the object's address.
using signal_tables = shared_tables<std::unordered_map<void const*, signalled>>;
constinit signal_tables all_signals;
signal_tables::table& table_of(void const* what) noexcept { return all_signals.of(reinterpret_cast<std::uintptr_t>(what) / 8); }

constinit fork_hook at_fork_of_signals{[]() noexcept { all_signals.hold(); }, [](bool) noexcept { all_signals.release(); }};
[[gnu::constructor]] void hold_signals_at_fork() noexcept { call_at_fork(at_fork_of_signals); }

// True once anything was signalled. relaxed: a signal of an object happens before the beginning of another at its address.
constinit std::atomic<bool> any{false};

}  // namespace

// ---- Beginning and end.

void procedure::begin(procedure_start const& s) noexcept {
  measured_words& words = measured_here();
  outer = static_cast<procedure*>(words.running);
  if (outer != nullptr) outer->leave();
  words.starting = nullptr;
  in = s.in;
  if (in.region == 0) return;
  site = s.site;
  at = s.at;
  to = s.to;
  order = s.order;
  returns = s.returns;
  is_asked = s.is_asked;
  from = s.from;
  if (in.in_calls) grow(1);
  come_back();
}

void procedure::begin_task() noexcept {
  if (procedure_start const* const s = std::exchange(measured_here().starting, nullptr); s != nullptr) {
    begin(*s);
  } else {
    begin({});
  }
  outer = nullptr;
}

// Its own part is done: adds it to its site, and arrives at its parent's join.
void procedure::finish() noexcept {
  leave();
  add_to_totals(in.region, site, {1, work});
  bring_path_up();
  if (returns) at.burdened += in.burden;
  if (to != nullptr && in.asks != nullptr) to->arrive_in_series({order, is_asked, from, series}, series_known);
  if (to != nullptr) to->arrive(std::move(at), order);
}

void procedure::end() noexcept {
  if (in.region != 0) finish();
  measured_here().running = nullptr;
  if (outer != nullptr) outer->come_back();
}

void procedure::end_task() noexcept {
  if (in.region != 0) finish();
  measured_here().running = nullptr;
}

// ---- Its clock.

void procedure::leave() noexcept {
  measured_here().running = nullptr;
  if (in.in_calls) return;
  std::uint64_t const all = clock_ticks() - since;
  std::uint64_t const mine = all - std::min(all, hook_time.load(std::memory_order_relaxed));  // relaxed: only the number matters
  grow(mine);
}

void procedure::grow(std::uint64_t by) noexcept {
  work += by;
  to_path += by;
  at.span += by;
  at.burdened += by;
  series += by;
  if (!is_asked) at.if_free += by;
}

void procedure::come_back() noexcept {
  measured_here() = {this, nullptr};
  if (!in.in_calls) since = clock_ticks();
}

void measure_hook_time() noexcept {
  static constinit std::once_flag once;
  std::call_once(once, [] {
    std::uint64_t least = ~std::uint64_t{0};
    measured_words const before = measured_here();
    procedure p;
    for (int n = 0; n < 200; ++n) {
      std::uint64_t const begun = p.work;
      p.come_back();
      p.leave();
      least = std::min(least, p.work - begun);
    }
    measured_here() = before;
    hook_time.store(least, std::memory_order_relaxed);  // relaxed: as above
  });
}

// ---- Its path.

void procedure::bring_path_up() noexcept { at.longest.go_on(site, std::exchange(to_path, 0)); }

void procedure::join(measured_join& j) noexcept {
  if (j.take_into(at)) to_path = 0;
  if (in.asks != nullptr && !j.take_in_series(series)) series_known = false;
}

void procedure::follow(point const& other) noexcept {
  at.burdened = std::max(at.burdened, other.burdened + in.burden);
  at.if_free = std::max(at.if_free, other.if_free);
  series_known = false;
  if (other.span <= at.span) return;
  at.span = other.span;
  at.longest = other.longest;
  to_path = 0;
}

procedure_start procedure::start_of_child(site_id where, measured_join* joins, unsigned child_order, unsigned ahead) const noexcept {
  procedure_start s;
  s.in = in;
  s.site = where;
  s.at = at;
  s.to = joins;
  s.order = child_order;
  s.is_asked = in.asks != nullptr && core::is_asked(*in.asks, where);
  s.from = series;
  s.at.burdened += ahead * in.burden;
  s.at.longest.go_on(site, to_path);
  return s;
}

// ---- Signals.

void signal_in_profile(void const* what, std::uint32_t region, point const& at) noexcept {
  any.store(true, std::memory_order_relaxed);  // relaxed: see above
  auto& [lock, things] = table_of(what);
  std::lock_guard const guard{lock};
  try {
    auto const [it, is_new] = things.try_emplace(what, signalled{region, at});
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
  auto& [lock, things] = table_of(what);
  std::lock_guard const guard{lock};
  things.erase(what);
}

void forget_signals(std::uint32_t region) noexcept {
  for (auto& [lock, things] : all_signals.all()) {
    std::lock_guard const guard{lock};
    std::erase_if(things, [&](auto const& thing) { return thing.second.region == region; });
  }
}

// Between leave and come_back of the caller: its clock stands still.
void procedure::follow_signals(void const* what) noexcept {
  auto& [lock, things] = table_of(what);
  point latest;
  {
    std::lock_guard const guard{lock};
    auto const it = things.find(what);
    if (it == things.end() || it->second.region != in.region) return;
    latest = it->second.latest;
  }
  follow(latest);
}

}  // namespace nopal::core
