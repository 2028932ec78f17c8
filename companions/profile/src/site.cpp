#include "nopal/profile/site.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string_view>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/process.hpp"
#include "profile/src/tables.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr std::size_t most_sites = 4096;  // a power of two; of which three quarters are used
constexpr site_id first_site = site_unknown + 1;

// Places by their hash, each after the place that it collides with. Entries are never freed, nor changed once they are stored.
constinit std::atomic<std::source_location const*> sites[most_sites]{};
constinit std::atomic<std::size_t> used_sites{0};

bool same(std::source_location const& a, std::source_location const& b) noexcept {
  return a.file_name() == b.file_name() && a.line() == b.line() && a.column() == b.column();  // addresses: the report compares the texts
}

std::size_t hash(std::source_location const& p) noexcept {
  auto h = reinterpret_cast<std::uintptr_t>(p.file_name()) ^ (std::uint64_t{p.line()} << 12) ^ p.column();
  h *= 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(h >> 40);
}

// ---- Totals.

struct of_region {
  std::uint32_t region;
  std::vector<site_totals> by_site;
};
// By thread, so that each usually finds its own unlocked.
constinit shared_tables<std::vector<of_region>> totals;

constinit fork_hook at_fork_of_totals{[]() noexcept { totals.hold(); }, [](bool) noexcept { totals.release(); }};
[[gnu::constructor]] void hold_totals_at_fork() noexcept { call_at_fork(at_fork_of_totals); }

void add(std::vector<site_totals>& to, site_id site, site_totals add) {
  if (site >= to.size()) to.resize(site + 1);
  to[site].procedures += add.procedures;
  to[site].work += add.work;
}

}  // namespace

site_id site_at(std::source_location const& where) noexcept {
  if (where.line() == 0) return site_unknown;
  for (std::size_t n = 0, i = hash(where) % most_sites; n < most_sites; ++n, i = (i + 1) % most_sites) {
    // acquire: pairs with the release of the exchange below, for the place's content.
    std::source_location const* here = sites[i].load(std::memory_order_acquire);
    if (here == nullptr) {
      // relaxed: an approximate bound.
      if (used_sites.load(std::memory_order_relaxed) >= most_sites / 4 * 3) return site_unknown;
      auto* const mine = new (std::nothrow) std::source_location{where};
      if (mine == nullptr) {
        out_of_memory();
        return site_unknown;
      }
      // release: pairs with the acquire above; acquire: pairs with the release of the thread that was first.
      if (sites[i].compare_exchange_strong(here, mine, std::memory_order_release, std::memory_order_acquire)) {
        used_sites.fetch_add(1, std::memory_order_relaxed);
        return first_site + static_cast<site_id>(i);
      }
      delete mine;
    }
    if (same(*here, where)) return first_site + static_cast<site_id>(i);
  }
  return site_unknown;
}

std::source_location place_of(site_id site) noexcept {
  if (site < first_site) return {};
  return *sites[site - first_site].load(std::memory_order_acquire);  // acquire: pairs with the release in site_at
}

bool is_asked(asked_place const& place, site_id site) noexcept {
  std::source_location const here = place_of(site);
  return here.line() == place.line && std::string_view{here.file_name()}.ends_with(place.file);
}

// ---- Totals.

void add_to_totals(std::uint32_t region, site_id site, site_totals t) noexcept {
  auto& [lock, regions] = totals.of(this_thread() / 64);
  std::lock_guard const guard{lock};
  try {
    auto r = regions.rbegin();
    while (r != regions.rend() && r->region != region) ++r;
    if (r != regions.rend()) return add(r->by_site, site, t);
    regions.push_back({region, {}});
    add(regions.back().by_site, site, t);
  } catch (std::bad_alloc const&) {
    out_of_memory();
  }
}

std::vector<site_totals> totals_of(std::uint32_t region) {
  std::vector<site_totals> sums;
  for (auto& [lock, regions] : totals.all()) {
    std::lock_guard const guard{lock};
    for (of_region const& r : regions) {
      for (site_id s = 0; r.region == region && s < r.by_site.size(); ++s) add(sums, s, r.by_site[s]);
    }
  }
  return sums;
}

void forget_totals(std::uint32_t region) noexcept {
  for (auto& [lock, regions] : totals.all()) {
    std::lock_guard const guard{lock};
    std::erase_if(regions, [&](of_region const& r) { return r.region == region; });
  }
}

// ---- What was not kept.

static constinit std::atomic<std::uint64_t> times{0};

// relaxed: a number; nothing else is read because of it.
void out_of_memory() noexcept { times.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t times_out_of_memory() noexcept { return times.load(std::memory_order_relaxed); }

}  // namespace nopal::core
