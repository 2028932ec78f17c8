#include "nopal/pool.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/injection.hpp"

namespace nopal {

// Reads NOPAL_WORKERS.
static pool_options options_of_default_pool() {
  pool_options o;
  char const* const text = std::getenv("NOPAL_WORKERS");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  if (text == nullptr || *text == '\0') return o;
  std::string_view const number{text};
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), o.workers);
  if (error != std::errc{} || end != number.data() + number.size() || o.workers > core::tuning::most_workers) {
    throw std::invalid_argument{"nopal::default_pool: NOPAL_WORKERS = \"" + std::string{number} + "\" is no number of workers from 1 to " +
                                std::to_string(core::tuning::most_workers) + "; write one, or unset it: one worker per usable CPU then"};
  }
  return o;
}

pool& default_pool() {
  static pool p{options_of_default_pool()};
  return p;
}

core::pool_state& core::default_pool_state() { return default_pool().state(); }

pool* pool::current() noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr ? w->pool().owner : nullptr;
}

worker_ref pool::worker(unsigned i) const& {
  if (i >= workers()) {
    throw std::out_of_range{"nopal::pool::worker(" + std::to_string(i) + "): this pool has workers 0 to " + std::to_string(workers() - 1)};
  }
  return worker_ref{scheduler_->at(i)};
}

core::move_awaiter resume_on(pool& p) { return core::move_awaiter{p.scheduler_->at(core::choose_worker(p.state()))}; }

unsigned this_worker::index() {
  core::worker const* const w = core::current_or_null();
  if (w == nullptr) {
    throw std::logic_error{
        "nopal::this_worker::index(): this thread works for no pool; call it inside a task, or this_worker::index_or(otherwise)"};
  }
  return w->index();
}

unsigned this_worker::index_or(unsigned otherwise) noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr ? w->index() : otherwise;
}

}  // namespace nopal
