#pragma once

// A program is a tree. Each node computes a number from those of its children, by one of the library's ways to fork and join; any of them
// may throw, or catch. The expected result is that of a serial run, which does not use the library.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../mix.hpp"
#include "tape.hpp"

namespace soak {

using test::mix;

/// How a node runs its children.
enum class way : std::uint8_t {
  // Coroutines.
  forks,       ///< fork and call, join
  tickets,     ///< the same, with arguments some of which cannot be copied
  eventually,  ///< slots without a default constructor
  scratch,     ///< slots in scratch memory, beside other scratch memory
  moves,       ///< resume_on in between
  reaches,     ///< fibers and tasks, and co_await counter.reaches between fork and join
  trunk,       ///< at the end of a long chain of forks
  // Ordinary functions.
  invoke,         ///< parallel_invoke
  invoke_caught,  ///< the same, while an exception is handled
  scope,          ///< with several joins
  scope_left,     ///< joined by its destructor, while an exception is handled
  scope_thrown,   ///< left by an exception between fork and join
  serial,         ///< one after another
  sort,           ///< in std::sort's comparisons
  quicksort,      ///< in qsort's
  sync_waits,
  runs,     ///< on this pool or another one
  submits,  ///< the same, with futures
  threads,  ///< on threads that belong to no pool
  c_scope,
  // Beside other parts of a program: limits::with.
  stays,     ///< parallel_invoke inside nopal::stay
  tbb,       ///< in a loop of oneTBB's
  openmp,    ///< in a loop of OpenMP's
  rounding,  ///< parallel_invoke in another rounding mode
  process,   ///< after a process was forked, which runs another program
  // Fibers.
  spawn,
  timed,   ///< waits with a time limit, sleeps
  values,  ///< waits for one counter at many values
  mutex,
  semaphore,
  channel,
  condition,   ///< in turn, by a condition_variable
  rendezvous,  ///< in pairs, which wait for each other
  detach,
  c_spawn,
};
inline constexpr std::size_t ways = static_cast<std::size_t>(way::c_spawn) + 1;
inline constexpr std::array<char const*, ways> way_names{
    "forks",   "tickets",    "eventually",   "scratch", "moves",     "reaches",    "trunk",      "invoke", "invoke_caught",
    "scope",   "scope_left", "scope_thrown", "serial",  "sort",      "quicksort",  "sync_waits", "runs",   "submits",
    "threads", "c_scope",    "stays",        "tbb",     "openmp",    "rounding",   "process",    "spawn",  "timed",
    "values",  "mutex",      "semaphore",    "channel", "condition", "rendezvous", "detach",     "c_spawn"};
inline constexpr char const* name(way w) { return way_names[static_cast<std::size_t>(w)]; }

inline constexpr bool is_task(way w) { return w <= way::trunk; }
inline constexpr bool is_fiber(way w) { return w >= way::spawn; }
inline constexpr bool has_company(way w) { return w >= way::stays && w <= way::process; }
/// It waits at joins only, for what it has forked itself.
inline constexpr bool only_joins(way w) {
  return w <= way::scratch || w == way::trunk || (w >= way::invoke && w <= way::sync_waits) || w == way::c_scope || has_company(w);
}
/// Its children run below frames of another runtime, which must end in the reverse order in which they began.
inline constexpr bool is_another_runtime(way w) { return w == way::tbb || w == way::openmp; }
/// It cannot fall back if there is memory for some of its children only.
inline constexpr bool needs_memory(way w) { return is_fiber(w) || w == way::reaches || w == way::threads; }

/// A value, or the number of the exception that replaces it; 0 for none.
struct outcome {
  std::uint64_t value = 0;
  std::uint64_t thrown = 0;
  bool operator==(outcome const&) const = default;
};

struct node {
  static constexpr std::size_t most_children = 7;

  std::uint64_t id = 0;
  node* parent = nullptr;
  std::vector<node*> children;
  std::size_t first_part = 0;  ///< so many of the children are joined before the others start
  way how = way::serial;
  unsigned salt = 0;  ///< decides what `how` leaves open
  unsigned depth = 0;
  bool throws_first = false, throws_between = false, throws_last = false;
  bool catches = false;  ///< what its children have thrown
  bool below_another_runtime = false;
  bool tears = false;  ///< if it gets a ticket, that cannot be copied, and it is never run

  // From the serial run.
  enum class run_rule : std::uint8_t { never, may, must };
  outcome expected;
  run_rule rule = run_rule::never;

  // From the parallel run.
  mutable std::atomic<int> runs{0};
  mutable std::atomic<int> active_children{0};

  bool bit(std::size_t k) const noexcept { return (salt >> (k % 8) & 1) != 0; }
  std::span<node* const> part(std::size_t k) const noexcept {
    std::span<node* const> const all{children};
    return k == 0 ? all.first(first_part) : all.subspan(first_part);
  }
  // The numbers of the exceptions that it may throw.
  std::uint64_t first() const noexcept { return id * 4 + 1; }
  std::uint64_t between() const noexcept { return id * 4 + 2; }
  std::uint64_t last() const noexcept { return id * 4 + 3; }
  std::uint64_t torn() const noexcept { return id * 4 + 4; }

  /// What its parent sees of it.
  outcome seen() const noexcept { return tears && parent->how == way::tickets ? outcome{0, torn()} : expected; }

  static std::uint64_t fold(std::uint64_t value, std::uint64_t child) noexcept { return mix(value + 3 * child); }
  static std::uint64_t fold_caught(std::uint64_t value, std::uint64_t number) noexcept { return mix(value ^ number); }
};

/// The other parts that a program may have, one bit each. The names are those of --with.
enum class company : std::uint8_t { stays, tbb, openmp, rounding, processes, signals };
inline constexpr std::array<char const*, 6> company_names{"stays", "tbb", "openmp", "rounding", "processes", "signals"};
inline constexpr unsigned bit_of(company c) { return 1u << static_cast<unsigned>(c); }
/// Those that this build has: oneTBB and OpenMP if they were found.
unsigned available_company() noexcept;

/// The limits of a tape's program.
struct limits {
  std::size_t nodes = 400;
  unsigned depth = 24;
  bool faults = false;        ///< only what may be refused memory
  bool default_pool = false;  ///< threads may use it
  unsigned with = 0;          ///< bits of company
};

class program {
 public:
  program(std::uint8_t const* data, std::size_t size, limits const& most);

  node const& root() const noexcept { return *nodes_.front(); }
  std::span<std::unique_ptr<node> const> nodes() const noexcept { return nodes_; }
  unsigned start() const noexcept { return start_; }
  void reset() noexcept;

 private:
  node& add(node* parent);
  void run_serially(node& n);
  static void rule(node& n, node::run_rule r);

  std::vector<std::unique_ptr<node>> nodes_;
  unsigned start_;
};

}  // namespace soak
