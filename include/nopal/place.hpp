#pragma once

// A part of the machine, for a pool of its own: pool_options::place. Next: core/machine/topology.hpp, which says what CPUs it has.

#include "nopal/core/compiler/config.hpp"

#include <string>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI {

namespace core {
class topology;
}

/// CPUs on which a pool works: all that the process may use, or a part of them. Nodes and packages count from 0, over those that have CPUs
/// which the process may use; numa_nodes() lists the nodes. On a simulated machine, or one that HWLOC_SYNTHETIC describes, they are that
/// machine's. A pool's constructor throws std::invalid_argument for a place that is not there, and says what there is.
///
///     nopal::pool near{{.place = nopal::place::numa(0)}};
class place {
 public:
  /// The whole machine.
  place() noexcept = default;
  /// The CPUs of these numbers, as the system counts them.
  static place cpus(std::vector<int> numbers) { return {kind::cpus, 0, std::move(numbers)}; }
  /// NUMA node k.
  static place numa(unsigned k) { return {kind::numa, k, {}}; }
  /// Package (socket) k.
  static place package(unsigned k) { return {kind::package, k, {}}; }
  /// The cores of the fastest kind: of Intel's hybrid processors, and where the system tells the capacity of cores (Arm). Where all are alike
  /// these are all.
  static place performance_cores() { return {kind::performance, 0, {}}; }
  /// All other cores. Where all are alike there are none, and the pool's constructor throws.
  static place efficiency_cores() { return {kind::efficiency, 0, {}}; }

  bool operator==(place const&) const = default;

 private:
  friend core::topology;
  enum class kind : unsigned char { all, cpus, numa, package, performance, efficiency };
  place(kind k, unsigned number, std::vector<int> numbers) : kind_{k}, number_{number}, numbers_{std::move(numbers)} {}

  kind kind_ = kind::all;
  unsigned number_ = 0;
  std::vector<int> numbers_;
};

/// The NUMA nodes that have CPUs which this process may use, at least one, each as a place: for a pool on each. Throws std::bad_alloc, and
/// std::invalid_argument if HWLOC_SYNTHETIC is no machine.
NOPAL_API std::vector<place> numa_nodes();

}  // namespace nopal
