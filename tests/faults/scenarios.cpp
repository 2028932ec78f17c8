#include "scenarios.hpp"

#include <vector>

#include "nopal/nopal.hpp"
#include "programs.hpp"

namespace test::faults {
namespace {

std::vector<scenario> make_scenarios() {
  nopal::pool_options const two{.workers = 2}, one{.workers = 1}, three{.workers = 3};
  nopal::pool_options small = three, pinned = one, busy = two, kept = two, freed = two, remapped = two, held = two;
  small.stack_size = 64 << 10;
  pinned.pin = true;
  busy.idle = nopal::idle::busy;
  kept.steal = false;
  freed.reclaim = nopal::reclaim::free;
  remapped.reclaim = nopal::reclaim::remap;
  held.reclaim = nopal::reclaim::none;
  return {
      {"runs", three, runs},
      {"runs_pinned", pinned, runs},
      {"runs_busily", busy, runs},
      {"runs_without_stealing", kept, fibers_park},
      {"comes_and_goes", one, comes_and_goes},
      {"submits", two, submits},
      {"detaches", two, detaches},
      {"goes_deep", two, goes_deep},
      {"goes_deep_on_small_stacks", small, goes_deep},
      {"nests_strands", two, nests_strands},
      {"nests_strands_alone", one, nests_strands},
      {"forks_natively", two, forks_natively},
      {"forks_in_scopes", two, forks_in_scopes},
      {"gives_pages_back_freed", freed, forks_natively},
      {"gives_pages_back_remapped", remapped, forks_natively},
      {"gives_no_pages_back", held, forks_natively},
      {"waits_for_tasks", two, waits_for_tasks},
      {"waits_for_tasks_alone", one, waits_for_tasks},
      {"spawns", two, spawns},
      {"spawns_outside", one, spawns_outside},
      {"fibers_park", two, fibers_park},
      {"fibers_park_alone", one, fibers_park},
      {"waits_with_limits", two, waits_with_limits},
      {"synchronises", two, synchronises},
      {"synchronises_alone", one, synchronises},
      {"passes_through_channels", two, passes_through_channels},
      {"takes_scratch", two, takes_scratch},
      {"resumes_elsewhere", two, resumes_elsewhere},
      {"throws", two, throws, true},
      {"uses_the_default_pool", one, uses_the_default_pool},
      {"speaks_c", one, speaks_c},
      {"reports", one, reports},
  };
}

}  // namespace

std::vector<scenario> const& scenarios() {
  static std::vector<scenario> const all = make_scenarios();
  return all;
}

}  // namespace test::faults
