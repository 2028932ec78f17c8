#include "simulation/src/schedule_choice.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/read_text.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

std::atomic<unsigned> controlled_pools{0};  // pools with a schedule from the environment

/// "12>1": decision 12 of the first pool; "2.12>1": of the third.
bool read(std::string_view text, listed_decision& d) noexcept {
  std::string_view at = take_until(text, '>');
  d.pool = 0;
  if (at.find('.') != at.npos && !read_all(take_until(at, '.'), d.pool)) return false;
  return read_all(at, d.at) && read_all(text, d.to);
}

bool read_list(std::string_view text, std::vector<listed_decision>& list) {
  while (!text.empty()) {
    listed_decision d{};
    if (!read(take_until(text, ','), d)) return false;
    list.push_back(d);
  }
  return true;
}

/// "d=2" or "k=500".
bool read_bound(std::string_view text, schedule_choice& s) noexcept {
  std::string_view const name = take_until(text, '=');
  std::uint64_t n = 0;
  if (!read_all(text, n) || n == 0) return false;
  if (name != "d" && name != "k") return false;
  (name == "d" ? s.depth : s.steps) = n;
  return true;
}

bool read_choice(std::string_view text, schedule_choice& s) {
  s.only_listed = text.starts_with("only:");
  if (s.only_listed) text.remove_prefix(5);
  bool const has_seed = text.find(':') != text.npos;
  std::string_view const name = take_until(text, ':');
  s.how = name == "always"   ? schedule::steal_always
          : name == "never"  ? schedule::steal_never
          : name == "random" ? schedule::steal_at_random
          : name == "pct"    ? schedule::by_priority
                             : schedule::free;
  if (s.how == schedule::free || (has_seed && !read_all(take_until(text, ':'), s.seed))) return false;
  if (s.only_listed) return has_seed && (s.how == schedule::steal_at_random || s.how == schedule::by_priority) && read_list(text, s.list);
  while (!text.empty()) {
    if (s.how != schedule::by_priority || !read_bound(take_until(text, ':'), s)) return false;
  }
  return s.depth <= 100;
}

}  // namespace

schedule_choice schedule_choice::parse(std::string_view text) {
  schedule_choice s;
  if (constexpr std::string_view simulate = "simulate:"; text.starts_with(simulate) && text != simulate) {
    s.machine = text.substr(simulate.size());
    return s;
  }
  if (!text.ends_with(':') && read_choice(text, s)) return s;
  throw std::invalid_argument{
      "nopal::pool: NOPAL_SCHEDULE = \"" + std::string{text} +
      "\" is no schedule; write always, never, random or pct, and maybe a seed of 64 bits: random:7, pct:7, "
      "pct:7:d=2:k=500 (a depth of at most 100, and steps); or what ./nopal shrink says: only:random:7:12>1,40>0; or simulate: and a "
      "machine: simulate:128, simulate:2x56"};
}

schedule_choice schedule_choice::from_environment() {
  char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change during the call
  if (text == nullptr || *text == '\0') return {};
  schedule_choice s = parse(text);
  if (!s.machine.empty()) return s;
  s.pool = controlled_pools.fetch_add(1, std::memory_order_relaxed);  // relaxed: only the number matters
  s.seed += s.pool;
  return s;
}

}  // namespace nopal::core
