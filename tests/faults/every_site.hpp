#pragma once

// Runs a scenario again and again, each time in a process of its own and with another call failing, and reports each end that is not
// allowed. Allowed are:
//
//   the result        the scenario's own, as without faults
//   an exception      std::bad_alloc; std::system_error with a message of nopal; then, in the same process and without faults, the same
//                     pool, or a new one if none could be made, gives the result, all of its workers work, and it leaves nothing
//   the end           SIGABRT after exactly one line "nopal: …", of those that docs/faults.md lists

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "inject.hpp"
#include "nopal/pool.hpp"

namespace test::faults {

struct scenario {
  std::string name;
  nopal::pool_options options;
  /// True: the right result. Throws the exception that a fault causes.
  bool (*run)(nopal::pool& pool);
  /// It throws numbered exceptions of its own.
  bool throws = false;

  friend void PrintTo(scenario const& s, std::ostream* out) { *out << s.name; }
};

struct outcome {
  std::vector<std::string> wrong;  ///< the errors, with all that is known of them
  unsigned runs = 0, injected = 0, results = 0, exceptions = 0, ends = 0;
  /// For each kind, the number of calls that the scenario makes.
  std::array<std::uint64_t, kinds> calls{};
};

/// `most` calls of each kind fail in turn, evenly spread if there are more; all if it is 0.
outcome fail_each(scenario const& s, unsigned most);
/// All calls of `what` fail, from the `first` on.
outcome fail_all(scenario const& s, kind_set what, std::uint64_t first = 1);
/// One in `one_in` fails.
outcome fail_at_random(scenario const& s, kind_set what, std::uint64_t one_in, std::uint64_t seed);

}  // namespace test::faults
