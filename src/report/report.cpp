// What waits for what, in words. Other stacks run at the same time, and what they waited for may be gone. So nothing of theirs is
// dereferenced: it is copied, as by a debugger, and the copy counts only if the stack still waits afterwards, by the same number. Next:
// place.hpp, the chain of calls.

#include "nopal/core/report/report.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "report/held_exceptions.hpp"
#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Reading memory that may be gone at any moment.

/// Copies `n` bytes of this process to `to`, as a debugger would. False: some cannot be read, or the system refuses; then the content of
/// `to` has no meaning. If another thread writes at the same time, the copy may be torn: the caller must check afterwards that the memory
/// was at rest. One system call.
static bool peek(void* to, void const* from, std::size_t n) noexcept;

/// Copies an object of type T from the address `from`, as above.
template <class T>
static bool peek(T& to, void const* from) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return peek(static_cast<void*>(&to), from, sizeof to);
}

// If process_vm_readv is not permitted, as by a filter of system calls.
static bool read_from_file(void* to, void const* from, std::size_t n) noexcept {
  int const memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  bool const read = ::pread(memory, to, n, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(from))) == static_cast<ssize_t>(n);
  ::close(memory);
  return read;
}

static bool peek(void* to, void const* from, std::size_t n) noexcept {
  iovec const here{to, n};
  iovec const there{const_cast<void*>(from), n};
  ssize_t const got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
  return got == static_cast<ssize_t>(n) || (got < 0 && read_from_file(to, from, n));
}

// ---- Reports.

namespace {

// The most stacks that get the names of their functions. The others get a line each without names: a million fibers may wait.
constexpr std::size_t most_named = 1000;

/// What a stack or a thread was waiting for a moment ago.
struct one_wait {
  std::uintptr_t self = 0;  ///< the waiter, in a mutex's word that it owns
  std::string who;
  waits_for why{};
  std::int64_t since = 0;    ///< by the coarse clock
  std::uintptr_t owner = 0;  ///< the owner of the mutex; 0: it is unlocked
  bool known = false;        ///< the mutex's or counter's words could be read
  basic_counter<timed_stack_waits>::copied counter{};
  std::vector<std::uintptr_t> code{};  ///< the function that waits, and its callers
  std::string in{};                    ///< these functions, in words
};

[[gnu::format(printf, 1, 2)]] std::string print(char const* format, ...) {
  std::array<char, 256> text;
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
  return text.data();
}

void copy_object(one_wait& w) noexcept {
  switch (w.why.kind) {
    case wait_kind::nothing_more:
    case wait_kind::join: break;
    case wait_kind::mutex: {
      std::uintptr_t word = 0;
      w.known = peek(word, w.why.object);
      w.owner = basic_mutex<stack_waits>::owner_in(word);
      break;
    }
    case wait_kind::counter: w.known = peek(w.counter, w.why.object); break;
  }
}

std::string name_of(stack const& s) {
  // acquire: pairs with the release of fiber_name's constructor, for the text. relaxed: if the name has changed, the copy is thrown away.
  stack_name const* const at = s.name.load(std::memory_order_acquire);
  stack_name name{};
  if (at == nullptr || !peek(name, at) || s.name.load(std::memory_order_relaxed) != at) return {};
  name.text[stack_name::most] = '\0';
  return name.text;
}

std::string label_of(stack const& s) {
  std::string const name = name_of(s);
  return print("the stack at %p", static_cast<void const*>(s.base())) + (name.empty() ? "" : " (" + name + ")");
}

/// Copies the wait of stack `s`. `walks`: with the functions that it waits in. False: it does not wait, or was resumed during the copy. Any
/// worker may resume it at any moment; it is not unmapped during the call.
bool copy_wait(stack const& s, code_names const& code, bool walks, std::vector<std::byte>& buffer, one_wait& w) {
  // acquire: both pair with the releases of begins_to_wait, for the saved stack pointer and all frames above it.
  std::uint64_t const number = s.wait_number.load(std::memory_order_acquire);
  waits_for const* const at = s.waits.load(std::memory_order_acquire);
  if (at == nullptr) return false;
  if (peek(w.why, at)) {
    copy_object(w);
  } else {
    w.why = {"something that the system does not let us read", nullptr};
  }
  w.self = reinterpret_cast<std::uintptr_t>(&s);
  w.who = label_of(s);
  w.since = s.waits_since.load(std::memory_order_relaxed);  // relaxed: as the rest of the copy
  void* sp = nullptr;
  std::size_t copied = 0;
  if (walks && peek(sp, &s.sp)) {
    auto const from = reinterpret_cast<std::uintptr_t>(sp);
    auto const top = reinterpret_cast<std::uintptr_t>(&s);
    if (from >= reinterpret_cast<std::uintptr_t>(s.low()) && from < top) {
      copied = std::min<std::size_t>(buffer.size(), top - from);
      if (!peek(buffer.data(), sp, copied)) copied = 0;
    }
  }
  // The acquire fence pairs with the release fence of begins_to_run: if the loads below do not see that the stack was resumed, all that was
  // copied was at rest. relaxed: the fence orders them.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (s.wait_number.load(std::memory_order_relaxed) != number || s.waits.load(std::memory_order_relaxed) != at) return false;
  if (copied != 0) {
    std::array<std::uintptr_t, 64> pcs;
    std::size_t const n = code.walk({reinterpret_cast<std::uintptr_t>(sp), {buffer.data(), copied}}, pcs);
    w.code.assign(pcs.begin(), pcs.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return true;
}

/// The thread's number and name: "thread 1234 (name)".
std::string label_of(pid_t thread) {
  std::array<char, 64> name{};
  int const file = ::open(print("/proc/self/task/%d/comm", static_cast<int>(thread)).c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t const n = ::read(file, name.data(), name.size() - 1);
    ::close(file);
    if (n > 0 && name[static_cast<std::size_t>(n) - 1] == '\n') name[static_cast<std::size_t>(n) - 1] = '\0';
  }
  return print("thread %d", static_cast<int>(thread)) + (name[0] != '\0' ? " (" + std::string{name.data()} + ")" : "");
}

std::vector<one_wait> waiting_stacks(stack_pool const& stacks, code_names const& code) {
  std::vector<one_wait> all;
  std::vector<std::byte> buffer(32 * 1024);
  stacks.for_each([&](stack const& s) {
    if (one_wait w; copy_wait(s, code, all.size() < most_named, buffer, w)) all.push_back(std::move(w));
  });
  return all;
}

/// A mutex that a task has just got, and is about to continue with, is no deadlock: a task that locks twice gets an exception.
std::vector<one_wait> waiting_tasks(listed_tasks const& tasks) {
  std::vector<one_wait> all;
  for (listed_task const& t : tasks.copies()) {
    one_wait w;
    w.self = reinterpret_cast<std::uintptr_t>(t.task);
    w.who = print("the task at %p", t.task);
    w.why = t.why;
    w.since = t.since;
    copy_object(w);
    if (w.owner == w.self) {
      w.known = false;
      w.owner = 0;
    }
    w.code.push_back(reinterpret_cast<std::uintptr_t>(t.function) + 1);  // as a return address: in the function
    all.push_back(std::move(w));
  }
  return all;
}

std::vector<one_wait> waiting_threads() {
  std::vector<std::pair<one_wait, pid_t>> found;
  sleeping_thread::for_each([&](sleeping_thread const& t) {
    one_wait w;
    w.self = t.self();
    w.why = t.why();
    w.since = t.since();
    copy_object(w);
    found.emplace_back(std::move(w), t.id());
  });
  std::vector<one_wait> all;
  for (auto& [w, id] : found) {
    w.who = label_of(id);
    all.push_back(std::move(w));
  }
  return all;
}

std::string object_of(waits_for const& w) { return w.object == nullptr ? std::string{w.what} : print("%s at %p", w.what, w.object); }

/// All waits, and the owners of the mutexes.
class waits_seen {
 public:
  waits_seen(std::vector<one_wait> all, stack_pool const& stacks) : all_{std::move(all)} {
    for (std::size_t k = 0; k < all_.size(); ++k) index_.emplace(all_[k].self, k);
    for (one_wait const& w : all_) {
      if (w.owner != 0 && !index_.contains(w.owner)) others_.try_emplace(w.owner);
    }
    if (others_.empty()) return;
    stacks.for_each([&](stack const& s) {
      if (auto const at = others_.find(reinterpret_cast<std::uintptr_t>(&s)); at != others_.end()) at->second = label_of(s);
    });
  }

  std::vector<one_wait> const& all() const noexcept { return all_; }
  std::size_t index(one_wait const& w) const noexcept { return static_cast<std::size_t>(&w - all_.data()); }
  /// The owner of the mutex that `w` waits for, if the owner waits too; else null.
  one_wait const* owner(one_wait const& w) const {
    auto const at = w.owner == 0 ? index_.end() : index_.find(w.owner);
    return at == index_.end() ? nullptr : &all_[at->second];
  }
  /// The owner of that mutex, in words, if it is a stack of the pool that does not wait; else "".
  std::string other_owner(one_wait const& w) const {
    auto const at = others_.find(w.owner);
    return at == others_.end() ? std::string{} : at->second;
  }

 private:
  std::vector<one_wait> all_;
  std::unordered_map<std::uintptr_t, std::size_t> index_;
  std::unordered_map<std::uintptr_t, std::string> others_;
};

std::string about_owner(one_wait const& w, waits_seen const& seen) {
  if (!w.known) return {};
  if (w.owner == 0) return "    it is unlocked now: a waiter will get it\n";
  if (one_wait const* const o = seen.owner(w); o != nullptr) {
    return "    " + o->who + " has it" + (o->in.empty() ? "" : ", " + o->in + ",") + " and waits for " + object_of(o->why) + "\n";
  }
  if (std::string const who = seen.other_owner(w); !who.empty()) return "    " + who + " has it, and runs, or ended without unlocking it\n";
  return "    a thread that does not wait, or another pool's native stack, has it\n";
}

std::string about_counter(one_wait const& w) {
  if (!w.known) return {};
  std::string lines = print("    it is %lld, and this waits until it is %lld at most\n", static_cast<long long>(w.counter.value()),
                            static_cast<long long>(w.why.target));
  if (w.counter.has_exception()) {
    std::string const words = message_held(w.why.object);
    lines += "    it keeps an exception for its waiter" + (words.empty() ? "" : ": " + words) + "\n";
  }
  return lines;
}

std::string about_deadline(waits_for const& w) {
  if (w.limit == waits_for::no_limit) return {};
  if (w.limit >= nanoseconds_of(simulated_times)) return "    it has a deadline, in simulated time\n";
  auto const now = nanoseconds_of(std::chrono::steady_clock::now());
  return print("    the deadline expires in %.3f s\n", static_cast<double>(w.limit - now) / 1e9);
}

std::string lines_of(one_wait const& w, waits_seen const& seen) {
  std::string lines = "  " + w.who + " waits for " + object_of(w.why) + "\n";
  if (!w.in.empty()) lines += "    " + w.in + "\n";
  if (w.why.kind == wait_kind::mutex) lines += about_owner(w, seen);
  if (w.why.kind == wait_kind::counter) lines += about_counter(w);
  lines += print("    it has waited for %.2f s\n", static_cast<double>(coarse_now() - w.since) / 1e9);
  return lines + about_deadline(w.why);
}

/// A line for each deadlock: a cycle of waiters in which each waits for a mutex that the next one owns.
std::string deadlocks(waits_seen const& seen) {
  std::string lines;
  std::vector<std::size_t> reached_from(seen.all().size(), seen.all().size());
  for (one_wait const& first : seen.all()) {
    one_wait const* w = &first;
    while (w != nullptr && reached_from[seen.index(*w)] == seen.all().size()) {
      reached_from[seen.index(*w)] = seen.index(first);
      w = seen.owner(*w);
    }
    if (w == nullptr || reached_from[seen.index(*w)] != seen.index(first)) continue;
    one_wait const* const begin = w;
    lines += "these wait for each other: ";
    do {
      one_wait const* const owner = seen.owner(*w);
      lines += w->who + " waits for " + object_of(w->why) + ", which " + (owner == w ? "it has itself" : owner->who + " has");
      w = owner;
      lines += w == begin ? "\n" : "; ";
    } while (w != begin);
  }
  return lines;
}

}  // namespace

std::string report(pool_state const& pool) {
  std::unique_ptr<code_names> const code = code_names::make();
  std::vector<one_wait> all = waiting_stacks(pool.stacks, *code);
  std::size_t const of_stacks = all.size();
  for (one_wait& w : waiting_tasks(pool.tasks_that_wait)) all.push_back(std::move(w));
  std::size_t const of_tasks = all.size() - of_stacks;
  for (one_wait& w : waiting_threads()) all.push_back(std::move(w));
  if (all.empty()) return "nothing waits\n";
  for (one_wait& w : all) w.in = where(*code, w.code.data(), w.code.size());
  waits_seen const seen{std::move(all), pool.stacks};
  std::string text = pool.name == "nopal" ? std::string{} : "the pool " + pool.name + ": ";
  text += of_stacks == 1 ? "1 native stack waits\n" : std::to_string(of_stacks) + " native stacks wait\n";
  for (one_wait const& w : seen.all()) {
    if (of_tasks != 0 && seen.index(w) == of_stacks) {
      text += of_tasks == 1 ? "1 task waits without a native stack\n" : std::to_string(of_tasks) + " tasks wait without a native stack\n";
    }
    if (seen.index(w) == of_stacks + of_tasks) {
      std::size_t const threads = seen.all().size() - of_stacks - of_tasks;
      text += threads == 1 ? "1 thread waits without leaving its stack\n"
                           : std::to_string(threads) + " threads wait without leaving their stacks\n";
    }
    text += lines_of(w, seen);
  }
  return text + deadlocks(seen);
}

// ---- Stuck pools.

#ifdef NDEBUG
void watch_for_stuck_pool(pool_state&) noexcept {}
#else

namespace {

// True if something waits, and neither visible work, nor a deadline, nor an event will wake it. Other workers may run during the call.
bool nothing_can_run(pool_state const& pool) noexcept {
  if (pool.parking.visible_work() || !pool.timer.idle() || pool.events.source() != nullptr) return false;
  bool some = false;
  for (unsigned i = 0; i < pool.size(); ++i) some = some || pool.parking.is_dozing(i);
  pool.stacks.for_each([&](stack const& s) { some = some || s.waits.load(std::memory_order_relaxed) != nullptr; });  // relaxed: a hint
  return some || !pool.tasks_that_wait.empty();
}

// Called later on the timer's thread, which ends before the pool does. Workers may have woken in the meantime.
void warn_if_stuck(void* with) noexcept {
  auto const& pool = *static_cast<pool_state const*>(with);
  for (unsigned i = 0; i < pool.size(); ++i) {
    if (!pool.parking.is_parked(i) && !pool.parking.is_dozing(i)) return;
  }
  if (!nothing_can_run(pool)) return;
  try {
    std::fprintf(stderr, "nopal: for a second nothing has been able to run, and nothing will unless a thread outside the pool wakes it: %s",
                 report(pool).c_str());
  } catch (std::bad_alloc const&) {
  }
}

}  // namespace

void watch_for_stuck_pool(pool_state& pool) noexcept {
  if (nothing_can_run(pool))
    pool.timer.call_after(timer::later::report, std::chrono::milliseconds{tuning::stuck_after}, warn_if_stuck, &pool);
}
#endif

}  // namespace nopal::core
