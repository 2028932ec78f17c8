#include "nopal/profile/site.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "nopal/profile/not_kept.hpp"

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

}  // namespace nopal::core
