#include "alpi_task.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/fiber.hpp"
#include "nopal/stop.hpp"

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

}  // namespace

chosen_pool& chosen() {
  static auto& only = *new chosen_pool;
  return only;
}
alpi_task* current_task() noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr && w->here != nullptr ? tasks().find(*w->here) : nullptr;
}

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
