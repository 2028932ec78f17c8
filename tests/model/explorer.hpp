#pragma once

// A small program of 2 to 4 threads under every interleaving, and every stale value that C++20 lets its loads read. The protocols
// of nopal/core are templates over a `Sync`; here is `model::sync`, so that what is explored is the very source that ships.
//
//     model::result r = model::explore({}, [](model::program& p) {
//       auto& x = p.make<model::sync::atomic<int>>(0);      // lives as long as the execution
//       auto& d = p.make<model::var<int>>();                // plain data: a race on it is a failure
//       p.thread([&] { d.set(1); x.store(1, std::memory_order_release); });
//       p.thread([&] { if (x.load(std::memory_order_acquire) == 1) model::check(d.get() == 1, "published"); });
//       p.finally([&] { model::check(x.load(std::memory_order_relaxed) == 1, "stored"); });
//     });
//     EXPECT_TRUE(r.ok()) << r.report();
//
// The program is run anew for each execution and must be the same each time: no clock, no addresses in decisions. How it is searched and
// what is not covered: docs/models.md.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace model {

using where = std::source_location;

/// What a thread does that others can observe.
enum class action : std::uint8_t {
  load,
  store,
  exchange,
  add,
  subtract,
  bit_or,
  bit_and,
  bit_xor,
  swap_if,
  failed_swap_if,  // on atomics
  fence,
  light_fence,
  heavy_fence,
  relax,
  wait,
  woken,
  wake,
  choose,
  none
};
char const* name(action a) noexcept;
char const* name(std::memory_order o) noexcept;

/// One place in the source that gives an order: a swap_if has two, the order of the swap and the order of its failure.
struct site {
  char const* file = nullptr;
  unsigned line = 0, column = 0;
  action what = action::none;
  std::memory_order order{};
  char const* function = nullptr;
  std::shared_ptr<site const> store_before{};  ///< of a light_fence: the store that it keeps before the loads after it
  std::string text() const;                    ///< "deque.hpp:65 store release"
  bool same(site const& o) const noexcept;
};

/// A site with another order. `removed`: the fence is left out.
struct weakening {
  site at;
  std::memory_order to{};
  bool removed = false;
  std::string text() const;
};
/// One step weaker each, none if it cannot be weaker.
std::vector<weakening> weakenings(site const& s);

struct config {
  /// Negative: every interleaving, one of each class that no thread can tell apart. Else those with at most so many preemptions.
  int preemptions = -1;
  /// How often a thread may repeat a loop that waits for others before an execution is given up (then `complete` is false).
  int spins = 12;
  std::uint64_t most_executions = 20'000'000;
  int most_steps = 2000;                 ///< more are a failure: an endless loop
  std::int64_t clock_step = 10'000'000;  ///< ns that pass between two looks at the clock: any patience is over
  weakening const* weakened = nullptr;
  std::string replay;  ///< the choices of a failure: only that execution, with its trace
};

struct result {
  std::uint64_t executions = 0;  ///< those that reached their end
  std::uint64_t redundant = 0;   ///< left when they turned out to be like an earlier one
  std::uint64_t cut = 0;         ///< given up, see config::spins
  std::uint64_t steps = 0;
  int deepest = 0;          ///< most steps of one execution
  bool complete = false;    ///< nothing was left out
  std::string failure;      ///< empty: none
  std::string trace;        ///< of the failure
  std::string choices;      ///< for config::replay
  std::vector<site> sites;  ///< that ran
  bool ok() const noexcept { return failure.empty(); }
  std::string report() const;
};

class program {
 public:
  /// Makes an object that lives as long as the execution.
  template <class T, class... A>
  T& make(A&&... a) {
    T* const p = new T(std::forward<A>(a)...);
    owned_.emplace_back(p, [](void* q) { delete static_cast<T*>(q); });
    return *p;
  }
  /// At most `most_threads`. Its frame is never unwound if the execution is left early: it must own no memory then.
  void thread(std::function<void()> f) { threads_.push_back(std::move(f)); }
  /// After all threads have ended; sees all they did.
  void finally(std::function<void()> f) { last_ = std::move(f); }

 private:
  friend class engine;
  std::vector<std::unique_ptr<void, void (*)(void*)>> owned_;
  std::vector<std::function<void()>> threads_;
  std::function<void()> last_;
};

result explore(config const& c, std::function<void(program&)> const& p);

/// Ends the execution with a failure unless `ok`. For threads and finally.
void check(bool ok, char const* what);
/// Any of 0 … n - 1: each is explored.
int choose(int n, where at = where::current());
/// The index of the calling thread.
int self() noexcept;

/// A point in the calling thread; tells whether it happens before what the caller does now.
struct moment {
  int thread = -1;
  std::int16_t stamp = 0;
};
moment here() noexcept;
bool happens_before(moment m) noexcept;

inline constexpr int most_threads = 4;

// ---- What follows is the machine.

namespace detail {

using raw = std::uint64_t;
template <class T>
raw to_raw(T v) noexcept {
  raw r = 0;
  std::memcpy(&r, &v, sizeof v);
  return r;
}
template <class T>
T from_raw(raw r) noexcept {
  T v;
  std::memcpy(&v, &r, sizeof v);
  return v;
}

/// An atomic object is its number; 0: no thread has used it, and it has zeros, as a slot of fresh memory does.
using id = std::uintptr_t;
id make_location(raw initial, char const* kind) noexcept;
raw load(id& l, std::memory_order o, where const& at) noexcept;
void store(id& l, raw v, std::memory_order o, where const& at) noexcept;
raw begin_change(id& l, action a, std::memory_order o,
                 where const& at) noexcept;  ///< reads the newest value; end_change follows at once
void end_change(raw v) noexcept;
bool swap_if(id& l, raw& expected, raw v, std::memory_order o, std::memory_order failed, where const& at) noexcept;
void fence(std::memory_order o, where const& at) noexcept;
void light_fence(where const& at) noexcept;
void heavy_fence(where const& at) noexcept;
void relax(where const& at) noexcept;
void wait(id& l, raw expected, where const& at) noexcept;
void wake(id& l, bool all, where const& at) noexcept;
std::int64_t now() noexcept;

/// The happens-before of plain data.
struct history {
  std::int16_t written = 0;
  std::int8_t writer = -1;
  std::array<std::int16_t, most_threads + 1> reads{};
  where at{};
};
void plain_read(history& h, char const* name, where const& at) noexcept;
void plain_write(history& h, char const* name, where const& at) noexcept;

}  // namespace detail

/// Replaces std::atomic<T>. As large as that for words, trivially destructible, and zeros are a valid object.
template <class T>
class atomic {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);

 public:
  atomic() noexcept : atomic(T{}) {}
  explicit(false) atomic(T v) noexcept : id_{detail::make_location(detail::to_raw(v), kind())} {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  T load(std::memory_order o = std::memory_order_seq_cst, where at = where::current()) const noexcept {
    return detail::from_raw<T>(detail::load(id_, o, at));
  }
  void store(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    detail::store(id_, detail::to_raw(v), o, at);
  }
  T exchange(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::exchange, o, at, [v](T) { return v; });
  }
  T fetch_add(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::add, o, at, [v](T x) { return static_cast<T>(x + v); });
  }
  T fetch_sub(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::subtract, o, at, [v](T x) { return static_cast<T>(x - v); });
  }
  T fetch_or(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::bit_or, o, at, [v](T x) { return static_cast<T>(x | v); });
  }
  T fetch_and(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::bit_and, o, at, [v](T x) { return static_cast<T>(x & v); });
  }
  T fetch_xor(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return change(action::bit_xor, o, at, [v](T x) { return static_cast<T>(x ^ v); });
  }
  bool compare_exchange_strong(T& expected, T v, std::memory_order o, std::memory_order failed, where at = where::current()) noexcept {
    detail::raw e = detail::to_raw(expected);
    bool const done = detail::swap_if(id_, e, detail::to_raw(v), o, failed, at);
    if (!done) expected = detail::from_raw<T>(e);
    return done;
  }
  bool compare_exchange_strong(T& expected, T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return compare_exchange_strong(expected, v, o, failure_of(o), at);
  }
  /// Never fails for no reason: every use is a loop.
  bool compare_exchange_weak(T& expected, T v, std::memory_order o, std::memory_order failed, where at = where::current()) noexcept {
    return compare_exchange_strong(expected, v, o, failed, at);
  }
  bool compare_exchange_weak(T& expected, T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return compare_exchange_strong(expected, v, o, failure_of(o), at);
  }

 private:
  friend struct sync;
  static constexpr std::memory_order failure_of(std::memory_order o) noexcept {
    return o == std::memory_order_acq_rel ? std::memory_order_acquire : o == std::memory_order_release ? std::memory_order_relaxed : o;
  }
  static char const* kind() noexcept {
    if constexpr (std::is_pointer_v<T>)
      return "pointer";
    else if constexpr (std::is_same_v<T, bool>)
      return "bool";
    else
      return std::is_signed_v<T> ? "signed" : "unsigned";
  }
  template <class F>
  T change(action a, std::memory_order o, where const& at, F f) noexcept {
    T const old = detail::from_raw<T>(detail::begin_change(id_, a, o, at));
    detail::end_change(detail::to_raw(f(old)));
    return old;
  }

  mutable detail::id id_;
};

/// The model of nopal::core::std_sync.
struct sync {
  template <class T>
  using atomic = model::atomic<T>;

  static constexpr int request_polls = 1;  ///< more would repeat the first
  static constexpr int request_pauses = 0;

  static void fence(where at = where::current()) noexcept { detail::fence(std::memory_order_seq_cst, at); }
  static void light_fence(where at = where::current()) noexcept { detail::light_fence(at); }
  static void heavy_fence(where at = where::current()) noexcept { detail::heavy_fence(at); }
  /// There is nothing to do until another thread has stored something new in what the caller has read since its last relax.
  static void relax(where at = where::current()) noexcept { detail::relax(at); }
  static void yield(where at = where::current()) noexcept { detail::relax(at); }
  static void give_way(int, where at = where::current()) noexcept { detail::relax(at); }
  static std::int64_t now() noexcept { return detail::now(); }
  /// Sleeps until woken, if the newest value is `expected`; orders nothing.
  template <class T>
  static void wait(atomic<T>& a, std::type_identity_t<T> expected, where at = where::current()) noexcept {
    detail::wait(a.id_, detail::to_raw(expected), at);
  }
  /// Wakes one sleeper, any.
  template <class T>
  static void wake(atomic<T>& a, where at = where::current()) noexcept {
    detail::wake(a.id_, false, at);
  }
  template <class T>
  static void wake_all(atomic<T>& a, where at = where::current()) noexcept {
    detail::wake(a.id_, true, at);
  }
};

/// Plain data of the model, or plain members that it names: two accesses of which one writes, and neither happens before the
/// other, are a failure.
template <class T>
class var {
 public:
  var() noexcept(noexcept(T())) : var(T{}) {}
  explicit var(T v, char const* name = "data") : value_{std::move(v)}, name_{name} {
    detail::plain_write(history_, name_, where::current());
  }
  var(var const&) = delete;
  var& operator=(var const&) = delete;

  T const& get(where at = where::current()) const noexcept {
    detail::plain_read(history_, name_, at);
    return value_;
  }
  void set(T v, where at = where::current()) noexcept {
    detail::plain_write(history_, name_, at);
    value_ = std::move(v);
  }

 private:
  T value_;
  char const* name_;
  mutable detail::history history_;
};

}  // namespace model
