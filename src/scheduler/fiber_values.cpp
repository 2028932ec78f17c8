#include "nopal/core/scheduler/fiber_values.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// Only threads that work for no pool use these, and workers between two strands: on stacks that no other thread ever resumes. So a compiler
// may keep their addresses.
constinit thread_local fiber_values of_thread;
constinit thread_local fiber_values* seen = nullptr;

// Its destructor ends the thread's values. Made only by a thread that has some: the C library does not unload a library as long as a thread
// has such an object of it.
struct end_of_thread {
  bool is_set = false;
  ~end_of_thread() { of_thread.end(); }
};
constinit thread_local end_of_thread at_end;

}  // namespace

fiber_values* values_of_thread() noexcept { return seen != nullptr ? seen : &of_thread; }
void thread_sees(fiber_values* v) noexcept { seen = v; }
void thread_lent_its_values() noexcept {
  if (!of_thread.empty()) at_end.is_set = true;
}

// Others may find and add at the same time. release, all: pair with the loads in find.
fiber_value& fiber_values::add(fiber_value& fresh, void const* slot) noexcept {
  lock_.lock();
  fiber_value* place = find(slot);
  if (place == nullptr) place = find(nullptr);
  if (place == nullptr) {
    fresh.of.store(slot, std::memory_order_relaxed);        // relaxed: the next store releases it
    fresh.older = newest_.load(std::memory_order_relaxed);  // relaxed: only written under the lock, or by the owner at the end
    newest_.store(&fresh, std::memory_order_release);
    place = &fresh;
  } else {
    place->of.store(slot, std::memory_order_release);
  }
  lock_.unlock();
  return *place;
}

// Destructors may find and add values, also in parallel.
void fiber_values::end_slowly() noexcept {
  for (unsigned ended = 0;;) {
    lock_.lock();
    fiber_value* const v = newest_.load(std::memory_order_relaxed);        // relaxed: the lock orders it
    if (v != nullptr) newest_.store(v->older, std::memory_order_release);  // release: pairs with the load in find, for older places
    lock_.unlock();
    if (v == nullptr) return;
    v->end(*v);
    if (++ended == tuning::most_ended_values)
      die("the destructors of fiber_local values make new values without end; look at fiber_local::has_value() before local() there");
  }
}

void end_values_of_job(fiber_values& v) noexcept {
  current()->values = &v;
  functions_at_base const destructors;
  v.end();
}

}  // namespace nopal::core
