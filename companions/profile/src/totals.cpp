#include "nopal/profile/totals.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/profile/not_kept.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

struct of_region {
  std::uint32_t region;
  std::vector<site_totals> by_site;
};
// Threads are spread over these, so that each usually finds its own unlocked.
struct alignas(128) table {
  basic_spin_lock<std_sync> lock;
  std::vector<of_region> regions;
};

// Never destroyed: procedures may end after static objects.
constexpr std::size_t tables = 64;
table* all() noexcept {
  static table* const t = new table[tables];
  return t;
}
table& mine() noexcept {
  std::uint64_t const h = this_thread() / 64 * 0x9e3779b97f4a7c15;
  return all()[h >> 58];
}

void add(std::vector<site_totals>& to, site_id site, site_totals add) {
  if (site >= to.size()) to.resize(site + 1);
  to[site].procedures += add.procedures;
  to[site].work += add.work;
}

}  // namespace

void add_to_totals(std::uint32_t region, site_id site, site_totals t) noexcept {
  table& here = mine();
  std::lock_guard const guard{here.lock};
  try {
    auto r = here.regions.rbegin();
    while (r != here.regions.rend() && r->region != region) ++r;
    if (r != here.regions.rend()) return add(r->by_site, site, t);
    here.regions.push_back({region, {}});
    add(here.regions.back().by_site, site, t);
  } catch (std::bad_alloc const&) {
    out_of_memory();
  }
}

std::vector<site_totals> totals_of(std::uint32_t region) {
  std::vector<site_totals> sums;
  for (std::size_t i = 0; i < tables; ++i) {
    table& t = all()[i];
    std::lock_guard const guard{t.lock};
    for (of_region const& r : t.regions) {
      for (site_id s = 0; r.region == region && s < r.by_site.size(); ++s) add(sums, s, r.by_site[s]);
    }
  }
  return sums;
}

void forget_totals(std::uint32_t region) noexcept {
  for (std::size_t i = 0; i < tables; ++i) {
    std::lock_guard const guard{all()[i].lock};
    std::erase_if(all()[i].regions, [&](of_region const& r) { return r.region == region; });
  }
}

}  // namespace nopal::core
