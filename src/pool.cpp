#include "nopal/pool.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "report/code_map.hpp"
#include "nopal/scratch.hpp"

namespace nopal {

static pool_options options_of_default_pool() {
  pool_options o;
  char const* const text = std::getenv("NOPAL_WORKERS");  // NOLINT(concurrency-mt-unsafe): nobody may change the environment meanwhile
  if (text == nullptr || *text == '\0') return o;
  std::string_view const number{text};
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), o.workers);
  if (error != std::errc{} || end != number.data() + number.size() || o.workers > core::scheduler::most_workers) {
    throw std::invalid_argument{"nopal::default_pool: NOPAL_WORKERS = \"" + std::string{number} + "\" is no number of workers from 1 to " +
                                std::to_string(core::scheduler::most_workers) + "; write one, or unset it: one worker per usable CPU then"};
  }
  return o;
}

pool& default_pool() {
  static pool p{options_of_default_pool()};
  return p;
}

pool* pool::current() noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr ? w->pool().owner() : nullptr;
}

worker_ref pool::worker(unsigned i) const& {
  if (i >= workers()) {
    throw std::out_of_range{"nopal::pool::worker(" + std::to_string(i) + "): this pool has workers 0 to " + std::to_string(workers() - 1)};
  }
  return worker_ref{scheduler_->at(i)};
}

core::scheduler& core::default_scheduler() { return *default_pool().scheduler_; }

core::move_awaiter resume_on(pool& p) { return core::move_awaiter{p.scheduler_->any_worker()}; }

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

namespace core {

void die_detached(std::exception_ptr e, void const* function) noexcept {
  die_in(function, "an exception left a job that was given to pool::detach (%s); catch it there, or use pool::submit", words_of(e));
}

// An exception's words, with the function that it is about.
static std::string with_place(std::string words) {
  if (std::string const in = place_of(nullptr); !in.empty()) words += " (" + in + ")";
  return words;
}

void release_scratch(void* block, std::size_t bytes) noexcept {
  core::arena& a = current()->arena;
  if (a.top() != static_cast<std::byte*>(block) + bytes) {
    die("a stack_array was destroyed between fork and join, or not in reverse order of creation; join before its scope ends");
  }
  a.release(block);
  a.tidy();
}

std::exception_ptr move_misuse() noexcept {
  try {
    throw std::logic_error{with_place(
        "nopal::resume_on between fork and join: this task's stack may belong to a child now; move before the first fork, or after the join")};
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr scratch_misuse(std::size_t n, bool in_scope) noexcept {
  try {
    if (in_scope) {
      throw std::logic_error{with_place("nopal::stack_array(" + std::to_string(n) +
                                        ") between fork and join: this task's stack may belong to a child now; make the array before the "
                                        "first fork, or after the join")};
    }
    throw std::invalid_argument{
        with_place("nopal::stack_array(0): scratch memory has at least 1 element; skip it when there is nothing to store")};
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace core
}  // namespace nopal
