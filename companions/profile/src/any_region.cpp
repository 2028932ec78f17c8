#include "profile/src/any_region.hpp"

#include <atomic>
#include <charconv>
#include <cmath>
#include <list>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/profile/not_kept.hpp"
#include "nopal/profile/signals.hpp"
#include "nopal/profile/totals.hpp"
#include "profile/src/burden.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit std::atomic<std::uint32_t> regions{0};

// In ticks, or calls.
std::uint64_t burden_of(profile_unit unit, double burden) {
  if (std::isnan(burden) || burden > most_burden) {
    throw std::invalid_argument{"nopal: the burden of a profile is " + std::to_string(burden) +
                                "; give a number of nanoseconds or calls from 0 to 1e15, or less than 0 for what this machine has"};
  }
  if (unit == profile_unit::calls) return burden >= 0 ? static_cast<std::uint64_t>(std::llround(burden)) : 0;
  if (burden < 0) return burden_of_this_machine();
  return static_cast<std::uint64_t>(std::llround(burden * ticks_per_nanosecond()));
}

// Parses "file.cpp:12". Finds a place again that was asked of before. Throws std::invalid_argument and std::bad_alloc.
asked_place const* asked(std::string const& what_if) {
  if (what_if.empty()) return nullptr;
  std::size_t const colon = what_if.rfind(':');
  char const* const digits = what_if.c_str() + (colon == what_if.npos ? what_if.size() : colon + 1);
  char const* const end = what_if.c_str() + what_if.size();
  std::uint32_t line = 0;
  auto const [read_to, error] = std::from_chars(digits, end, line);
  if (colon == 0 || error != std::errc{} || read_to != end || line == 0) {
    throw std::invalid_argument{"nopal: what_if of a profile is '" + what_if +
                                "'; give the place of a fork, such as sort.cpp:12, or nothing"};
  }
  static std::mutex mutex;
  static auto* const places = new std::list<asked_place>;  // never destroyed: procedures may outlive their region
  std::lock_guard const guard{mutex};
  std::string const file = what_if.substr(0, colon);
  for (asked_place const& p : *places) {
    if (p.line == line && p.file == file) return &p;
  }
  return &places->emplace_back(asked_place{file, line});
}

// Adds an inner region to `outer`, the procedure of the outer region that contains it. Throws std::bad_alloc.
void add_to_outer(procedure& outer, procedure const& inner) {
  outer.at.span += inner.at.span;
  outer.at.burdened += inner.at.burdened;
  bool const asks_alike = inner.in.asks != nullptr && outer.in.asks == inner.in.asks;
  outer.at.if_free += asks_alike ? inner.at.if_free : inner.at.span;
  outer.series += asks_alike ? inner.series : inner.at.span;
  outer.series_known = outer.series_known && (!asks_alike || inner.series_known);
  auto const site_of = [&](site_id s) { return s == site_of_region ? outer.site : s; };
  outer.at.longest.go_on(outer.site, std::exchange(outer.to_path, 0));
  for (path::part const p : inner.at.longest.parts()) outer.at.longest.go_on(site_of(p.site), p.amount);
  std::vector<site_totals> const all = totals_of(inner.in.region);
  for (site_id s = 0; s < all.size(); ++s) {
    if (s == site_of_region) {
      outer.work += all[s].work;
    } else if (all[s].procedures != 0 || all[s].work != 0) {
      add_to_totals(outer.in.region, s, all[s]);
    }
  }
}

}  // namespace

void begin_region(procedure& p, profile_unit unit, double burden, std::string const& what_if) {
  bool const in_calls = unit == profile_unit::calls;
  procedure const* const around = procedure_here();
  if (around != nullptr && around->in.in_calls != in_calls) {
    throw std::invalid_argument{"nopal: a profile lies in a region that is measured in another unit; give both the unit of the outer one"};
  }
  procedure_start s;
  {
    pause_in_profile const measuring_the_machine;
    s.in = {0, in_calls, burden_of(unit, burden), nullptr};
    s.in.asks = asked(what_if);
    measure_hook_time();
  }
  s.in.region = regions.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only unique
  s.site = site_of_region;
  s.returns = false;
  p.begin(s);
  if (in_calls) p.work = p.to_path = p.at.span = p.at.burdened = p.at.if_free = p.series = 0;  // it is not a call
}

void end_region(procedure& p) noexcept {
  p.end();
  procedure* const around = procedure_here();
  if (around == nullptr) return;
  around->leave();
  try {
    add_to_outer(*around, p);
  } catch (std::bad_alloc const&) {
    out_of_memory();
  }
  around->come_back();
}

void forget_region(procedure const& p) noexcept {
  forget_totals(p.in.region);
  forget_signals(p.in.region);
}

}  // namespace nopal::core
