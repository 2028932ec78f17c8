#include "nopal/alpi.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "alpi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/fiber_name.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/version.hpp"

// ---- A task.

// A task of ALPI's: a fiber with events, which hold its completion back, and with waits that anybody may end. Who finds it: current_task,
// by the native stack on which the caller runs.

/// It completes once: where the word becomes 0, by the body's end or by the last event. One reference is there until then, and one more for
/// each thread that wakes the task and is not back from there: the task may have completed and ended by then.
struct alpi_task {
  /// Counts `c`, if that is not null, up. `done`, if not null, is called with `with` when the task has completed. Throws std::bad_alloc.
  alpi_task(nopal::counter* c, void (*done)(void*), void* with);
  alpi_task(alpi_task const&) = delete;
  alpi_task& operator=(alpi_task const&) = delete;

  /// From now on what runs on the caller's native stack is this task; until left.
  void entered();
  void left() noexcept;

  /// Waits for one unblock. By the task.
  void block();
  /// Ends one block. The task has not ended.
  void unblock();

  /// More events. False: there would be too many. By the task.
  bool add_events(std::uint64_t n) noexcept;
  /// Fulfils events. False: there are fewer. The last one completes the task, if its body has ended.
  bool fulfil(std::uint64_t n);
  bool has_events() const noexcept { return word_.load() >= one_event; }
  /// Waits until there are no events. By the task.
  void wait_for_events();

  /// The body has returned. True: it has asked to be suspended, has waited as its mode says, and is to be called again.
  bool waits_to_run_again();
  /// The body has ended for good, or will never run. Completes the task if it has no events. The caller's reference goes.
  void body_ended();
  /// It was not spawned, and ends without having completed.
  void never_ran();

  bool suspended = false;  ///< the body has called alpi_task_suspend. By the task, as these two
  alpi_suspend_mode_t mode = ALPI_SUSPEND_NONE;
  std::uint64_t mode_args = 0;
  bool const independent;  ///< alpi_task_spawn has made it

 private:
  // The word: 1 while the body may run, 2 while it waits until there are no events, and 4 for each event.
  static constexpr std::uint64_t running = 1, awaits_events = 2, one_event = 4;
  ~alpi_task();
  void complete();
  static void is_over();
  void hold() noexcept { references_.fetch_add(1); }
  void drop() noexcept {
    if (references_.fetch_sub(1) == 1) delete this;
  }

  std::atomic<std::uint64_t> word_{running};
  std::atomic<unsigned> references_{1};
  nopal::semaphore unblocked_{0};
  nopal::semaphore no_events_{0};
  nopal::counter* const counter_;
  void (*const done_)(void*);
  void* const with_;
  nopal::core::stack* on_ = nullptr;
  alpi_task* around_ = nullptr;  ///< the task that ran on this stack before; or null
};

namespace nopal::inline NOPAL_ABI::alpi {
namespace {

// Which task runs on which native stack. In parts, each with a mutex, under which nothing waits.
class tasks_by_stack {
 public:
  // Returns what it replaces. Null: the stack has none.
  alpi_task* exchange(core::stack& s, alpi_task* t) {
    part& p = part_of(s);
    std::lock_guard const lock{p.mutex};
    if (t == nullptr) {
      auto const found = p.tasks.extract(&s);
      return found.empty() ? nullptr : found.mapped();
    }
    return std::exchange(p.tasks[&s], t);
  }
  alpi_task* find(core::stack& s) noexcept {
    part& p = part_of(s);
    std::lock_guard const lock{p.mutex};
    auto const found = p.tasks.find(&s);
    return found != p.tasks.end() ? found->second : nullptr;
  }

 private:
  struct alignas(64) part {
    std::mutex mutex;
    std::unordered_map<core::stack*, alpi_task*> tasks;
  };
  part& part_of(core::stack& s) noexcept { return parts_[(s.number() >> 8) % parts]; }  // of stacks of 1 MiB, neighbours differ

  static constexpr std::size_t parts = 64;
  part parts_[parts];
};

// Never destroyed: threads of the default pool may outlive static objects.
tasks_by_stack& tasks() {
  static auto& all = *new tasks_by_stack;
  return all;
}
// As this object is loaded: the guard of a static variable that another thread has taken, and a fork has copied, is never free.
[[gnu::constructor]] void make_tasks_from_the_start() { static_cast<void>(tasks()); }

/// The pool, and how many tasks there are. Under the mutex.
struct chosen_pool {
  std::mutex mutex;
  pool* chosen = nullptr;  ///< null: the default pool
  std::size_t tasks = 0;
};

chosen_pool& chosen() {
  static constinit chosen_pool only;
  return only;
}
/// The task on whose native stack the caller runs; or null.
alpi_task* current_task() noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr && w->here != nullptr ? tasks().find(*w->here) : nullptr;
}

// ---- The pool of tasks, and tasks that are spawned.

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

namespace alpi = nopal::alpi;

alpi_task::alpi_task(nopal::counter* c, void (*done)(void*), void* with)
    : independent{c == nullptr}, counter_{c}, done_{done}, with_{with} {
  {
    std::lock_guard const lock{alpi::chosen().mutex};
    ++alpi::chosen().tasks;
  }
  if (c != nullptr) c->add();
}
alpi_task::~alpi_task() = default;

void alpi_task::entered() {
  on_ = nopal::core::current()->here;
  around_ = alpi::tasks().exchange(*on_, this);
}
void alpi_task::left() noexcept { alpi::tasks().exchange(*on_, around_); }

void alpi_task::block() {
  nopal::without_stop([this] { unblocked_.acquire(); });
}
void alpi_task::unblock() {
  hold();  // the task may end before release returns
  unblocked_.release();
  drop();
}

bool alpi_task::add_events(std::uint64_t n) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / one_event / 2;
  if (n > most || word_.load() / one_event > most - n) return false;
  word_.fetch_add(n * one_event);
  return true;
}
bool alpi_task::fulfil(std::uint64_t n) {
  hold();  // once these are fulfilled, the body may run on and end
  std::uint64_t word = word_.load();
  std::uint64_t then = 0;
  bool wakes = false;
  bool are_there = false;
  do {
    are_there = n <= word / one_event;
    if (!are_there) break;
    then = word - n * one_event;
    wakes = then == (running | awaits_events);
    if (wakes) then = running;
  } while (!word_.compare_exchange_weak(word, then));
  if (are_there && n != 0 && then == 0) complete();
  if (wakes) no_events_.release();
  drop();
  return are_there;
}
void alpi_task::wait_for_events() {
  std::uint64_t word = word_.load();
  do {
    if (word < one_event) return;
  } while (!word_.compare_exchange_weak(word, word | awaits_events));
  nopal::without_stop([this] { no_events_.acquire(); });
}

bool alpi_task::waits_to_run_again() {
  if (!std::exchange(suspended, false)) return false;
  switch (mode) {
    case ALPI_SUSPEND_NONE: block(); break;
    case ALPI_SUSPEND_SUBMIT: nopal::yield(); break;
    case ALPI_SUSPEND_TIMEOUT_SUBMIT: {
      constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
      std::chrono::nanoseconds const time{static_cast<std::int64_t>(mode_args < most ? mode_args : most)};
      nopal::without_stop([&] { nopal::sleep_for(time); });
      break;
    }
    case ALPI_SUSPEND_EVENT_SUBMIT: wait_for_events(); break;
  }
  return true;
}
void alpi_task::body_ended() {
  if (word_.fetch_sub(running) == running) complete();
}
void alpi_task::never_ran() {
  is_over();
  drop();
}
void alpi_task::complete() {
  is_over();  // first: who learns of the end may choose another pool at once
  if (done_ != nullptr) done_(with_);
  nopal::counter* const c = counter_;
  drop();
  if (c != nullptr) c->done();
}
void alpi_task::is_over() {
  std::lock_guard const lock{alpi::chosen().mutex};
  --alpi::chosen().tasks;
}

// ---- The functions of alpi.h.

// There is nothing to set yet. The mark tells one from memory that is none.
struct alpi_attr {
  std::uint64_t mark;
  static constexpr std::uint64_t is_made = 0x6e6f70616c617474;
};

namespace {

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
