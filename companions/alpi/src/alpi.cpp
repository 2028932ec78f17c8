#include "alpi.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "alpi_task.hpp"
#include "nopal/alpi.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/fiber.hpp"
#include "nopal/fiber_name.hpp"
#include "nopal/pool.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/version.hpp"

namespace nopal::inline NOPAL_ABI::alpi {
namespace {

// Of a task that was not spawned, for want of memory.
struct given_up {
  void operator()(alpi_task* t) const { t->never_ran(); }
};

void choose(pool* p) {
  std::lock_guard const lock{chosen().mutex};
  if (chosen().tasks != 0) {
    throw std::logic_error{"nopal: ALPI's tasks have one pool at a time, and " + std::to_string(chosen().tasks) +
                           " of them have not completed. Call alpi::use before the first task, or after the last."};
  }
  chosen().chosen = p;
}

// Spawns a task that runs f(with) on the pool of tasks. Throws std::bad_alloc.
void spawn_independent(void (*f)(void*), void* with, void (*done)(void*), void* done_with, char const* label) {
  struct fiber {
    std::unique_ptr<alpi_task, given_up> task;
    void (*f)(void*);
    void* with;
    std::string label;
    void operator()() {
      fiber_name const shown{label};
      do {
        task->entered();
        f(with);
        task->left();
      } while (task->waits_to_run_again());
      task.release()->body_ended();
    }
  };
  std::string name{label != nullptr ? label : "ALPI task"};
  pool_of_tasks().spawn(fiber{std::unique_ptr<alpi_task, given_up>{new alpi_task{nullptr, done, done_with}}, f, with, std::move(name)});
}

}  // namespace

pool& pool_of_tasks() {
  {
    std::lock_guard const lock{chosen().mutex};
    if (chosen().chosen != nullptr) return *chosen().chosen;
  }
  return default_pool();
}
void use(pool& p) { choose(&p); }
void use_default_pool() { choose(nullptr); }

body::body(counter& c) : task_{new alpi_task{&c, nullptr, nullptr}} {}
body::~body() {
  if (task_ != nullptr) task_->body_ended();
}
bool body::runs_again() { return task_->waits_to_run_again(); }
body::inside::inside(body& b) : task_{*b.task_} { task_.entered(); }
body::inside::~inside() { task_.left(); }

}  // namespace nopal::alpi

// There is nothing to set yet. The mark tells one from memory that is none.
struct alpi_attr {
  std::uint64_t mark;
  static constexpr std::uint64_t is_made = 0x6e6f70616c617474;
};

namespace {

namespace alpi = nopal::alpi;

// Calls f, which returns an alpi_error_t, and turns what it throws into one.
template <class F>
int guarded(F f) noexcept {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    return ALPI_ERR_OUT_OF_MEMORY;
  } catch (...) {
    return ALPI_ERR_UNKNOWN;
  }
}

// As guarded, for what only a task may do for itself: f(that task).
template <class F>
int by_itself(alpi_task* t, F f) noexcept {
  if (t == nullptr) return ALPI_ERR_PARAMETER;
  alpi_task* const me = alpi::current_task();
  if (me == nullptr) return ALPI_ERR_OUTSIDE_TASK;
  if (me != t) return ALPI_ERR_PARAMETER;
  return guarded([&] { return f(*me); });
}

// Writes the number of whatever runs the caller's task.
template <class F>
int inside_task(std::uint64_t* where, F number) noexcept {
  if (where == nullptr) return ALPI_ERR_PARAMETER;
  if (alpi::current_task() == nullptr) return ALPI_ERR_OUTSIDE_TASK;
  *where = static_cast<std::uint64_t>(number());
  return ALPI_SUCCESS;
}

std::chrono::nanoseconds of_nanoseconds(std::uint64_t n) noexcept {
  constexpr std::uint64_t most = std::chrono::nanoseconds::max().count();
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(n, most))};
}

}  // namespace

extern "C" {

NOPAL_API char const* alpi_error_string(alpi_error_t error) {
  switch (error) {
    case ALPI_SUCCESS: return "Success";
    case ALPI_ERR_VERSION: return "nopal has ALPI 1.2, which is not what the caller wants";
    case ALPI_ERR_NOT_INITIALIZED: return "The runtime is not initialized";
    case ALPI_ERR_PARAMETER: return "A parameter is invalid: null, a task that is not the caller's, or more events than there are";
    case ALPI_ERR_OUT_OF_MEMORY: return "Out of memory";
    case ALPI_ERR_OUTSIDE_TASK: return "The caller is no task: begin it by nopal::alpi::run or nopal::alpi::spawn";
    case ALPI_ERR_UNKNOWN: return "Unknown error";
    case ALPI_ERR_FEATURE_UNKNOWN: return "nopal knows no such feature of ALPI";
    case ALPI_ERR_MAX: break;
  }
  return "Error code not recognized";
}

NOPAL_API int alpi_info_get(alpi_info_t query, char* buffer, size_t max_length, int* length) {
  if (buffer == nullptr || max_length == 0) return ALPI_ERR_PARAMETER;
  char const* text = nullptr;
  switch (query) {
    case ALPI_INFO_RUNTIME_NAME: text = "nopal"; break;
    case ALPI_INFO_RUNTIME_VENDOR: text = "the nopal project"; break;
    case ALPI_INFO_VERSION: text = NOPAL_VERSION_STRING; break;
    default: return ALPI_ERR_PARAMETER;
  }
  std::size_t const n = std::min(std::strlen(text), max_length - 1);
  std::memcpy(buffer, text, n);
  buffer[n] = '\0';
  if (length != nullptr) *length = static_cast<int>(n);
  return ALPI_SUCCESS;
}

NOPAL_API int alpi_feature_check(int feature_bitmask) {
  constexpr int all = ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND;
  return (feature_bitmask & ~all) == 0 ? ALPI_SUCCESS : ALPI_ERR_FEATURE_UNKNOWN;
}

NOPAL_API int alpi_version_check(int major, int minor) {
  return major == ALPI_VERSION_MAJOR && minor >= 0 && minor <= ALPI_VERSION_MINOR ? ALPI_SUCCESS : ALPI_ERR_VERSION;
}

NOPAL_API int alpi_version_get(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return ALPI_ERR_PARAMETER;
  *major = ALPI_VERSION_MAJOR;
  *minor = ALPI_VERSION_MINOR;
  return ALPI_SUCCESS;
}

NOPAL_API int alpi_task_self(alpi_task** task) {
  if (task == nullptr) return ALPI_ERR_PARAMETER;
  *task = alpi::current_task();
  return ALPI_SUCCESS;
}

NOPAL_API int alpi_task_block(alpi_task* task) {
  return by_itself(task, [](alpi_task& me) {
    me.block();
    return ALPI_SUCCESS;
  });
}

NOPAL_API int alpi_task_unblock(alpi_task* task) {
  if (task == nullptr) return ALPI_ERR_PARAMETER;
  return guarded([task] {
    task->unblock();
    return ALPI_SUCCESS;
  });
}

NOPAL_API int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t* actual_ns) {
  alpi_task* const me = alpi::current_task();
  if (me == nullptr) return ALPI_ERR_OUTSIDE_TASK;
  return guarded([=] {
    auto const began = std::chrono::steady_clock::now();
    {
      // TAMPI waits for its own tasks under a std::mutex, which the thread that has locked it must unlock.
      std::optional<nopal::stay> here;
      if (!me->independent) here.emplace();
      nopal::without_stop([=] {
        if (target_ns == 0) {
          nopal::yield();
        } else {
          nopal::sleep_for(of_nanoseconds(target_ns));
        }
      });
    }
    auto const took = std::chrono::nanoseconds{std::chrono::steady_clock::now() - began};
    if (actual_ns != nullptr) *actual_ns = static_cast<std::uint64_t>(took.count());
    return ALPI_SUCCESS;
  });
}

NOPAL_API int alpi_task_events_increase(alpi_task* task, uint64_t increment) {
  return by_itself(task, [=](alpi_task& me) { return me.add_events(increment) ? ALPI_SUCCESS : ALPI_ERR_PARAMETER; });
}

NOPAL_API int alpi_task_events_test(alpi_task* task, uint64_t* has_events) {
  if (has_events == nullptr) return ALPI_ERR_PARAMETER;
  return by_itself(task, [=](alpi_task& me) {
    *has_events = me.has_events() ? 1 : 0;
    return ALPI_SUCCESS;
  });
}

NOPAL_API int alpi_task_events_decrease(alpi_task* task, uint64_t decrement) {
  if (task == nullptr) return ALPI_ERR_PARAMETER;
  return guarded([=] { return task->fulfil(decrement) ? ALPI_SUCCESS : ALPI_ERR_PARAMETER; });
}

NOPAL_API int alpi_attr_create(alpi_attr** attr) {
  if (attr == nullptr) return ALPI_ERR_PARAMETER;
  *attr = new (std::nothrow) alpi_attr{alpi_attr::is_made};
  return *attr != nullptr ? ALPI_SUCCESS : ALPI_ERR_OUT_OF_MEMORY;
}
NOPAL_API int alpi_attr_destroy(alpi_attr* attr) {
  if (attr == nullptr || attr->mark != alpi_attr::is_made) return ALPI_ERR_PARAMETER;
  attr->mark = 0;
  delete attr;
  return ALPI_SUCCESS;
}
NOPAL_API int alpi_attr_init(alpi_attr* attr) {
  if (attr == nullptr) return ALPI_ERR_PARAMETER;
  ::new (static_cast<void*>(attr)) alpi_attr{alpi_attr::is_made};
  return ALPI_SUCCESS;
}
NOPAL_API int alpi_attr_size(uint64_t* attr_size) {
  if (attr_size == nullptr) return ALPI_ERR_PARAMETER;
  *attr_size = sizeof(alpi_attr);
  return ALPI_SUCCESS;
}

NOPAL_API int alpi_task_spawn(void (*body)(void*), void* body_args, void (*completion_callback)(void*), void* completion_args,
                              char const* label, alpi_attr const* attr) {
  if (body == nullptr || (attr != nullptr && attr->mark != alpi_attr::is_made)) return ALPI_ERR_PARAMETER;
  return guarded([=] {
    alpi::spawn_independent(body, body_args, completion_callback, completion_args, label);
    return ALPI_SUCCESS;
  });
}

NOPAL_API int alpi_cpu_count(uint64_t* count) {
  if (count == nullptr) return ALPI_ERR_PARAMETER;
  return guarded([=] {
    *count = alpi::pool_of_tasks().workers();
    return ALPI_SUCCESS;
  });
}
NOPAL_API int alpi_cpu_logical_id(uint64_t* logical_id) {
  return inside_task(logical_id, [] { return nopal::this_worker::index_or(0); });  // on a worker: a task runs nowhere else
}
NOPAL_API int alpi_cpu_system_id(uint64_t* system_id) {
  return inside_task(system_id, [] { return sched_getcpu(); });
}

NOPAL_API int alpi_task_suspend_mode_set(alpi_task* task, alpi_suspend_mode_t suspend_mode, uint64_t args) {
  if (suspend_mode < ALPI_SUSPEND_NONE || suspend_mode > ALPI_SUSPEND_EVENT_SUBMIT) return ALPI_ERR_PARAMETER;
  return by_itself(task, [=](alpi_task& me) {
    me.mode = suspend_mode;
    me.mode_args = args;
    return ALPI_SUCCESS;
  });
}
NOPAL_API int alpi_task_suspend(alpi_task* task) {
  return by_itself(task, [](alpi_task& me) {
    me.suspended = true;
    return ALPI_SUCCESS;
  });
}

}  // extern "C"
