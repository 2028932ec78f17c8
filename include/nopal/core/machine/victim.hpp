#pragma once

// Which worker a thief tries: near ones often, far ones seldom, by Eq. (6). One table per worker, made with the pool and read by its
// worker alone. README.md, "Eq. (6)". Next: scheduler/search.hpp, which steals from the worker that was drawn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nopal/core/machine/topology.hpp"
#include "nopal/options.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// For one worker i, a distribution over all others: P(j) ∝ w_ij = 1 / (n_ij r_ij²), Eq. (6). r_ij is their distance in the tree, n_ij how
/// many workers are at that distance from i. So each ring around i weighs 1/r², however many it holds. Workers that share i's PU (r = 0)
/// belong to the ring r = 1.
class victim_table {
 public:
  /// A table without victims.
  victim_table() = default;

  /// The table of worker `self` of `workers`, whose places are from machine.spread. Linear in the number of workers, in time
  /// and space (16 bytes each). Empty for fewer than two workers.
  victim_table(topology const& machine, std::span<place const> workers, unsigned self);

  /// The table of worker `self` of `workers` in which all others are alike: Eq. (6) with all distances one. Linear as well. For
  /// experiments: `how` is uniform; or scan, with which thieves do not draw.
  victim_table(nopal::victims how, unsigned workers, unsigned self) : scans_{how == nopal::victims::scan} {
    for (unsigned j = 0; j < workers; ++j) {
      if (j != self) columns_.push_back({0, j, j});
    }
  }

  /// True if there is no victim. Then pick must not be called.
  bool empty() const noexcept { return columns_.empty(); }

  /// The victim for a uniform 64-bit `random`; never `self`. Not for an empty table. Constant time: one multiplication, one load, one
  /// comparison.
  unsigned pick(std::uint64_t random) const noexcept {
    // random / 2^64 * columns: its whole part chooses the column, its fraction, again uniform, the half of the column.
    auto const scaled = static_cast<wide>(random) * columns_.size();
    column const& chosen = columns_[static_cast<std::size_t>(scaled >> 64)];
    return static_cast<std::uint64_t>(scaled) < chosen.keep ? chosen.own : chosen.alias;
  }

  /// True if thieves try all workers in order, and do not draw.
  bool scans() const noexcept { return scans_; }
  /// The k-th victim of such a scan, from 0.
  unsigned in_order(unsigned k) const noexcept { return columns_[k].own; }

  /// The probability with which pick returns `victim`, computed from the table itself. Linear in the number of workers.
  double probability(unsigned victim) const noexcept;

 private:
  __extension__ using wide = unsigned __int128;

  /// One of equally likely columns of Walker's alias method: `own` with probability keep / 2^64, else `alias`.
  struct column {
    std::uint64_t keep;
    unsigned own;
    unsigned alias;
  };

  std::vector<column> columns_;  // one per other worker, in their order, hence never self
  bool scans_ = false;
};

inline victim_table::victim_table(topology const& machine, std::span<place const> workers, unsigned self) {
  if (workers.size() < 2) return;
  auto const ring = [&](std::size_t j) { return static_cast<std::size_t>(std::max(1, machine.distance(workers[self], workers[j]))); };
  std::vector<unsigned> in_ring;  // n by r
  for (std::size_t j = 0; j < workers.size(); ++j) {
    if (j == self) continue;
    if (ring(j) >= in_ring.size()) in_ring.resize(ring(j) + 1);
    ++in_ring[ring(j)];
  }
  double total = 0;
  for (std::size_t r = 1; r < in_ring.size(); ++r) {
    if (in_ring[r] != 0) total += 1 / static_cast<double>(r * r);
  }

  // Vose's construction. Shares are scaled so that a column holds 1; a share above 1 fills up the columns of shares below 1.
  std::vector<double> share;
  std::vector<std::size_t> poor, rich;
  for (std::size_t j = 0; j < workers.size(); ++j) {
    if (j == self) continue;
    auto const r = ring(j);
    double const weight = 1 / (static_cast<double>(in_ring[r]) * static_cast<double>(r * r));
    share.push_back(weight / total * static_cast<double>(workers.size() - 1));
    (share.back() < 1 ? poor : rich).push_back(columns_.size());
    // A column is its own alias until it is filled. One that is never filled, being 1 up to rounding, then gives `own` for any `keep`.
    columns_.push_back({0, static_cast<unsigned>(j), static_cast<unsigned>(j)});
  }
  while (!poor.empty() && !rich.empty()) {
    auto const to = poor.back();
    auto const from = rich.back();
    poor.pop_back();
    columns_[to].keep = static_cast<std::uint64_t>(share[to] * 0x1p64);
    columns_[to].alias = columns_[from].own;
    share[from] -= 1 - share[to];
    if (share[from] < 1) {
      rich.pop_back();
      poor.push_back(from);
    }
  }
}

inline double victim_table::probability(unsigned victim) const noexcept {
  double sum = 0;
  for (column const& c : columns_) {
    double const keep = static_cast<double>(c.keep) * 0x1p-64;
    if (c.own == victim) sum += keep;
    if (c.alias == victim) sum += 1 - keep;
  }
  return columns_.empty() ? 0 : sum / static_cast<double>(columns_.size());
}

}  // namespace nopal::core
