#include "nopal/floating_point.hpp"
#include "nopal/scope.hpp"
#include "nopal/scratch.hpp"
#include "nopal/stay.hpp"

#include <cfenv>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/event.hpp"
#include "report/place.hpp"

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace nopal::inline NOPAL_ABI::core {

// ---- scope. Children that were forked off a pool, begun on a worker: called by core/stack/scope_child.hpp.

pool_state& pool_of_list() {
  worker const* const w = current_or_null();
  return w != nullptr ? w->pool() : default_pool_state();
}

// The scope here gets no exception: run() records what a child throws in the scope that forked it.
void begin_all(outside_children& all) noexcept {
  scope s;
  while (outside_child* const c = all.take_newest()) s.fork([c] { c->run(*c); });
}

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

// ---- stay.

// Leaves the thread of an external caller for a worker's own, since a caller works here only for its own job, and not to that job's end.
// The stack goes into an inbox, which only workers' own threads empty. Without memory for the stack on which the external caller would then
// search, it tries again: other threads free some.
static void move_to_own_thread() noexcept {
  using namespace core;
  waiting_stack me;
  me.pool = &current()->pool();
  me.worker = current()->index();
  me.what = current()->here;
  while (current()->occupant.here && !suspend({"a worker's own thread, at nopal::stay", nullptr}, false, [&](stack&) noexcept {
           me.resume_later();
           return false;
         })) {
    timespec const pause{0, static_cast<long>(tuning::wait_without_stack)};
    ::nanosleep(&pause, nullptr);
  }
}

// True if `function`, as a compiler spells it, returns a nopal::task. Clang spells the declaration; GCC names a coroutine's body by the
// frame that it is given. Other libraries have a task too: so this is asked only on a stack that runs one of ours. The place of an object
// says no more: a compiler leaves in the native frame of a coroutine what lives across no suspension, as in that of a function that it has
// inlined there.
static bool is_coroutine(std::string_view function) noexcept {
  if (function.ends_with(".Frame*)")) return true;
  for (std::string_view const before : {"static ", "virtual ", "::"}) {
    if (function.starts_with(before)) function.remove_prefix(before.size());
  }
  function = function.substr(0, function.find_first_of("<["));  // the arguments, or GCC's [abi:profiled]
  return function == "task" || (function.starts_with("nopal::") && function.ends_with("::task"));
}

// True if the object is in the frame of the function that has made it. AddressSanitizer keeps variables of functions elsewhere.
static bool is_local(core::stack& here, void* object) noexcept {
  if (here.holds(reinterpret_cast<std::uintptr_t>(object))) return true;
#if NOPAL_ASAN
  if (void* const fake = __asan_get_current_fake_stack(); fake != nullptr) {
    return __asan_addr_is_in_fake_stack(fake, object, nullptr, nullptr) != nullptr;
  }
#endif
  return !here.holds(core::stack_pointer());  // on a stack that is not nopal's this is unknown
}

stay::stay(char const* made_by) noexcept : on_{nullptr}, was_fast_{false} {
  if (core::current_or_null() == nullptr) return;
  bool const in_coroutine = core::current()->alarm != core::worker::no_tasks && is_coroutine(made_by);
  if (!in_coroutine) move_to_own_thread();
  core::worker& w = *core::current();
  on_ = w.here;
  if (in_coroutine || !is_local(*on_, this)) {
    core::die("a nopal::stay was made in a coroutine, or on the heap; make one in an ordinary function that the task calls");
  }
  w.pool().stacks_stay.store(true, std::memory_order_relaxed);  // relaxed: a hint
  ++on_->stays;
  was_fast_ = w.alarm == core::worker::no_tasks;
  if (was_fast_) w.alarm = core::worker::no_alarm;
  core::mode_changed(w);  // another runtime may call back in a mode of its own: so the first fork there polls
}

stay::~stay() {
  core::fork_state* const state = core::state_here();
  if (state->here != on_) {
    core::die("a nopal::stay ended on another stack than it began on; make one in an ordinary function, not in a coroutine");
  }
  if (on_ == nullptr) return;
  --on_->stays;
  core::mode_changed(*core::current());  // here that mode has ended
  if (was_fast_ && on_->stays == 0) state->alarm = core::worker::no_tasks;
}

// ---- floating_point_mode.

void floating_point_mode_changed() noexcept {
  if (core::worker* const w = core::current_or_null(); w != nullptr) core::mode_changed(*w);
}

floating_point_mode::floating_point_mode(int rounding) {
  if (std::fesetround(rounding) != 0) {
    std::string message{"nopal::floating_point_mode: rounding = "};
    message += std::to_string(rounding);
    message += " is none of the processor's; give FE_TONEAREST, FE_UPWARD, FE_DOWNWARD or FE_TOWARDZERO";
    throw std::invalid_argument{message};
  }
  floating_point_mode_changed();
}

floating_point_mode::~floating_point_mode() {
  before_.adopt();
  floating_point_mode_changed();
}

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// ---- scratch.

void release_scratch(void* block, std::size_t bytes) noexcept {
  core::arena& a = current()->arena;
  if (a.top() != static_cast<std::byte*>(block) + bytes) {
    die("a stack_array was destroyed between fork and join, or not in reverse order of creation; join before its scope ends");
  }
  a.release(block);
  a.tidy();
}

std::exception_ptr scratch_misuse(std::size_t n, bool in_scope) noexcept {
  try {
    if (in_scope) {
      throw std::logic_error{with_place("nopal::stack_array(" + std::to_string(n) +
                                        ") between fork and join: this task's stack may belong to a child now; make the array before the "
                                        "first fork, or after the join")};
    }
    throw std::invalid_argument{
        with_place("nopal::stack_array(0): scratch memory has at least 1 element; make none where there is nothing to store")};
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace nopal::core
