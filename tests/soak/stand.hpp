#pragma once

// Runs programs: two pools as a tape's first bytes choose them, and what must hold after each program.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nopal/pool.hpp"
#include "program.hpp"
#include "site.hpp"

namespace soak {

/// The pools, by the first bytes of a tape.
struct settings {
  static constexpr std::size_t bytes = 3;

  nopal::pool_options own, other;
  unsigned callers = 1;  ///< threads that run programs there at once
  limits most;

  /// `workers`: those to choose from. `with`: bits of company.
  settings(std::uint8_t const* data, std::size_t size, std::vector<unsigned> const& workers, unsigned with);
  std::string text() const;
};

/// Counts of what has happened so far.
struct totals {
  std::atomic<std::uint64_t> programs{0}, nodes{0}, thrown{0}, faults{0}, out_of_memory{0};
  std::array<std::atomic<std::uint64_t>, ways> forks{};
  std::atomic<std::uint64_t> steals{0}, suspensions{0}, fibers{0}, serial_forks{0}, sleeps{0};
};

class stand {
 public:
  explicit stand(settings const& s);

  /// Runs it, from any thread; returns an error, or "". With `one_in`, so many allocations and mappings fail during the run: only for
  /// programs that were made with limits::faults, one at a time.
  std::string try_out(program& p, totals& all, std::uint64_t one_in = 0, std::uint64_t seed = 0);
  /// While no program runs: what the pools have not freed, or "".
  std::string look_behind();
  /// Reads what may be read at any time. By one thread at a time.
  std::string look_on();
  void add_to(totals& all);
  std::string report() const;
  settings const& how() const noexcept { return how_; }

 private:
  settings how_;
  nopal::pool own_, other_;
  nopal::worker_stats last_seen_;
};

}  // namespace soak
