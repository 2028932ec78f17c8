#pragma once

// The path of an item: from the source through the stages, in one line, by one carrier where nothing holds it up. Made by ../../pipeline.hpp,
// in the frame of the caller. Next: gates.hpp, where items pass one by one; flow.hpp, which offers lines to thieves.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/pipeline/flow.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// How items pass through a stage.
enum class passage : std::uint8_t { parallel, serial, in_order };

/// What the stages of a pipeline take and make. A stage has `passage` and `function`; Given: what the first is called with.
template <class Given, class... Stages>
struct values_after {
  using type = std::tuple<>;
};
/// What a stage with this function has for the next one. A reference is copied: what it refers to may be in the stage's argument.
template <class F, class Given>
using made_by = std::decay_t<std::invoke_result_t<F&, Given>>;
template <class Stage>
using function_of = std::remove_reference_t<decltype((std::declval<Stage&>().function))>;

template <class Given, class Stage, class Next, class... Stages>
struct values_after<Given, Stage, Next, Stages...> {
  using made = made_by<function_of<Stage>, Given>;
  using type = decltype(std::tuple_cat(std::declval<std::tuple<std::type_identity<made>>>(),
                                       std::declval<typename values_after<made&&, Next, Stages...>::type>()));
};

/// Memory for some objects that the owner makes and destroys.
template <class T>
class raw_array {
 public:
  /// Throws std::bad_alloc.
  explicit raw_array(std::size_t n) : at_{allocate(n)} {}
  raw_array(raw_array const&) = delete;
  raw_array& operator=(raw_array const&) = delete;
  ~raw_array() { ::operator delete(static_cast<void*>(at_), std::align_val_t{alignof(T)}); }
  T& operator[](std::size_t n) const noexcept { return at_[n]; }
  /// Makes object n.
  template <class... A>
  T& make(std::size_t n, A&... a) const noexcept {
    return *::new (static_cast<void*>(at_ + n)) T{a...};
  }

 private:
  static T* allocate(std::size_t n) {
    if (n > PTRDIFF_MAX / sizeof(T)) throw std::bad_array_new_length{};
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{alignof(T)}));
  }
  T* const at_;
};

/// A run of the pipeline of these stages. Source: is called for a std::optional; both may be const.
template <class Source, class... Stages>
class typed_flow final : flow {
  using first = std::remove_cv_t<std::remove_reference_t<std::invoke_result_t<Source&>>>;  // std::optional<T>
  using given = decltype(*std::declval<first>());
  using made = typename values_after<given, Stages...>::type;

  static constexpr std::size_t stages = sizeof...(Stages);
  static constexpr std::array<passage, stages> passages{Stages::passage...};
  static constexpr std::size_t how_many(passage p, std::size_t before) noexcept {
    std::size_t n = 0;
    for (std::size_t k = 0; k < before; ++k) n += passages[k] == p ? 1 : 0;
    return n;
  }
  static constexpr std::size_t number_of_serial(std::size_t n) noexcept { return n - how_many(passage::parallel, n); }
  static constexpr std::size_t in_order = how_many(passage::in_order, stages);
  static constexpr std::size_t serial = how_many(passage::serial, stages);

  // Value `N` is what stage N, counted from 0, takes: value 0 is what the source has returned. Each is made while the one before lives.
  using values = decltype(std::tuple_cat(std::declval<std::tuple<std::type_identity<first>>>(), std::declval<made>()));
  template <std::size_t N>
  using value = typename std::tuple_element_t<N, values>::type;

  template <std::size_t Parity, std::size_t... N>
  static constexpr std::array<std::size_t, 2> room(std::index_sequence<N...>) noexcept {
    std::array<std::size_t, 2> r{1, 1};
    ((r[0] = N % 2 == Parity && sizeof(value<N>) > r[0] ? sizeof(value<N>) : r[0]), ...);
    ((r[1] = N % 2 == Parity && alignof(value<N>) > r[1] ? alignof(value<N>) : r[1]), ...);
    return r;
  }
  static constexpr std::array<std::size_t, 2> even = room<0>(std::make_index_sequence<stages>{});
  static constexpr std::array<std::size_t, 2> odd = room<1>(std::make_index_sequence<stages>{});

  struct alignas(std::max({std::size_t{64}, even[1], odd[1]})) typed_line : line {
    explicit typed_line(flow& f) noexcept : line{core::flow::run_stolen, f} {}
    alignas(even[1]) std::byte even_value[even[0]];
    alignas(odd[1]) std::byte odd_value[odd[0]];
  };
  // The turn of one item at each stage in order. An item far enough behind it uses the row again.
  struct alignas(64) row {
    turn of[in_order > 0 ? in_order : 1];
  };
  struct no_rows {
    explicit no_rows(std::size_t) noexcept {}
  };
  struct alignas(64) gate {
    serial_gate it;
  };

 public:
  /// Throws std::bad_alloc.
  typed_flow(std::size_t tokens, Source& source, Stages&... s)
      : flow{carry, in_order + serial + 1}, tokens_{tokens}, function_{source}, stages_{s...}, lines_{tokens}, rows_{tokens} {}
  typed_flow(typed_flow const&) = delete;
  typed_flow& operator=(typed_flow const&) = delete;
  ~typed_flow() {
    for (std::size_t n = 0; n < made_.load(std::memory_order_relaxed); ++n) drop_value(lines_[n], std::make_index_sequence<stages>{});
  }

  /// Takes all items through. Throws what has left a stage or the source first in serial order. By a worker; another one may run the
  /// caller afterwards.
  void run() {
    begin();
    if constexpr (in_order > 0) {
      for (turn& t : rows_.make(0).of) t.begin();
    }
    carry(*this, true);
    end();
    rethrow();
  }

 private:
  // flow::carry_function.
  static void carry(flow& f, bool is_caller) noexcept {
    auto& self = static_cast<typed_flow&>(f);
    std::uint64_t others_since = 0;
    trial helps{f, is_caller};
    for (line* free = nullptr; self.carry_next(free);) {
      if (helps.is_due()) [[unlikely]]
        free = helps.see(f, free);
      if (!others_wait()) [[likely]] {
        others_since = 0;
      } else if (self.makes_way(is_caller, others_since, free)) {
        return;
      }
    }
  }
  // Carries one item as far as it goes, and returns true: or returns false, and `free` is not the caller's any more. `free`: a line without
  // an item, or null. Items that are inside of a stage come first, those in the last stages before others, and the source last.
  NOPAL_INLINE bool carry_next(line*& free) noexcept {
    in_simulated_order();
    return carry_ready<stages>(free) || carry_new(free);
  }
  template <std::size_t N>
  NOPAL_INLINE bool carry_ready(line*& free) noexcept {
    if constexpr (N == 0) {
      return false;
    } else {
      if constexpr (passages[N - 1] != passage::parallel) {
        if (line* const l = ready_[number_of_serial(N - 1)].take(alone_); l != nullptr) [[unlikely]] {
          carry_inside<N - 1>(*l, free);
          return true;
        }
      }
      return carry_ready<N - 1>(free);
    }
  }
  // Line `l` was handed on inside of stage N.
  template <std::size_t N>
  NOPAL_COLD void carry_inside(line& l, line*& free) noexcept {
    if (free != nullptr) source_.put(*free, alone_);
    if constexpr (passages[N] == passage::in_order) turn_of<N>(l.slot).enter();
    offered more;
    more.begin(l);
    free = pass_through<N>(l);
    more.end(*this, free != nullptr);
  }
  // The source is next. False: nothing comes out of it, or another carrier is inside, or there is no free line.
  bool carry_new(line*& free) noexcept {
    if (!enter_source(free)) return false;
    if (free == nullptr) free = source_.take_line(alone_);
    if (free == nullptr && has_new_line()) free = &make_line();
    if (free == nullptr) return source_.leave(alone_);  // a line may have come meanwhile, whose carrier has found this one inside
    line& l = *free;
    if (!read(l)) {
      close_source();
      return false;
    }
    in_simulated_order();
    if (source_.leave(alone_) || has_new_line()) {
      offered more;
      more.begin(l);
      free = advance<0>(l);
      more.end(*this, free != nullptr);
    } else {
      poll();
      free = advance<0>(l);
    }
    return true;
  }

  // As source_.enter, but for that others may be faster for a moment.
  NOPAL_INLINE bool enter_source(line* free) noexcept {
    if (!source_.is_taken() && source_.enter(nullptr, alone_)) [[likely]]
      return true;
    bool entered = false;
    wait_a_moment([&] { return entered = !source_.is_taken() && source_.enter(nullptr, alone_); }, [&] { return !source_.is_closed(); });
    return entered || source_.enter(free, alone_);
  }

  // Asks the source for the next item. False: there is none. By the carrier inside of the source's gate.
  bool read(line& l) noexcept {
    std::uint64_t const item = next_item_.load(std::memory_order_relaxed);  // relaxed: only who is inside of the gate writes it
    if (is_over(item)) return false;
    first* o;
    try {
      throw_if_stopped();
      o = ::new (place<0>(l)) first(std::invoke(function_));
    } catch (...) {
      failed(item);
      return false;
    }
    if (!o->has_value()) {
      std::destroy_at(o);
      return false;
    }
    l.item = item;
    l.slot = next_slot_;
    l.holds = 1;
    next_item_.store(item + 1, std::memory_order_relaxed);  // relaxed: others read it as a hint
    next_slot_ = after(next_slot_);
    if constexpr (in_order > 0) {
      if (item + 1 < tokens_) rows_.make(next_slot_);
    }
    return true;
  }

  // Stage N is next for the item in `l`. Returns a line without an item, or null: there is none, since `l` waits or was handed on, or what it
  // has is not needed any more.
  template <std::size_t N>
  NOPAL_INLINE line* advance(line& l) noexcept {
    if constexpr (N == stages) {
      return &l;
    } else if constexpr (passages[N] == passage::parallel) {
      return run_stage<N>(l) ? advance<N + 1>(l) : nullptr;
    } else {
      return enter<N>(l) ? pass_through<N>(l) : nullptr;
    }
  }
  // Line `l` is inside of stage N. Otherwise as advance.
  template <std::size_t N>
  NOPAL_INLINE line* pass_through(line& l) noexcept {
    bool const done = run_stage<N>(l);
    if (line* const next = leave<N>(l.slot); next != nullptr) [[unlikely]] {
      ready_[number_of_serial(N)].put(*next, alone_);
      return done ? advance_and_offer<N + 1>(l) : nullptr;
    }
    return done ? advance<N + 1>(l) : nullptr;
  }
  // As advance, while another line is ready, with which this carrier goes on afterwards if no thief does.
  template <std::size_t N>
  NOPAL_COLD line* advance_and_offer(line& l) noexcept {
    if constexpr (N == stages) {
      return &l;
    } else {
      offered more;
      more.begin(l);
      line* const ended = advance<N>(l);
      more.end(*this, ended != nullptr);
      return ended;
    }
  }

  // True: the caller is inside of stage N. False: the line waits for that, or is handed on already.
  template <std::size_t N>
  NOPAL_INLINE bool enter(line& l) noexcept {
    in_simulated_order();
    if constexpr (passages[N] == passage::in_order) {
      turn& mine = turn_of<N>(l.slot);
      if (!mine.has_come()) [[unlikely]]
        wait_a_moment([&] { return mine.has_come(); }, [&] { return turn_of<N>(before(l.slot)).is_inside(); });
      return mine.arrive(l, alone_);
    } else {
      serial_gate& g = gate_of<N>();
      if (!g.is_free()) [[unlikely]]
        wait_a_moment([&] { return g.is_free(); }, [&] { return g.is_run(); });
      return g.enter(l, alone_);
    }
  }
  // The carrier of the item in `slot` leaves stage N. Returns the line that is inside now, if there is one: it is the caller's.
  template <std::size_t N>
  NOPAL_INLINE line* leave([[maybe_unused]] std::size_t slot) noexcept {
    in_simulated_order();
    if constexpr (passages[N] == passage::in_order) {
      turn_of<N>(slot).leave();
      return turn_of<N>(after(slot)).pass(alone_);
    } else {
      return gate_of<N>().leave(alone_);
    }
  }
  template <std::size_t N>
  turn& turn_of(std::size_t slot) noexcept {
    return rows_[slot].of[how_many(passage::in_order, N)];
  }
  template <std::size_t N>
  serial_gate& gate_of() noexcept {
    return gates_[how_many(passage::serial, N)].it;
  }

  // Calls stage N with the value in `l`, and puts the value for the next stage in its place. False: it was not called, since an earlier item
  // has thrown, or it has thrown; then the line keeps its value until the flow ends.
  template <std::size_t N>
  NOPAL_INLINE bool run_stage(line& l) noexcept {
    if (is_over(l.item)) [[unlikely]]
      return false;
    running<N> const now{*this};
    try {
      throw_if_stopped();
      if constexpr (N + 1 == stages) {
        static_cast<void>(std::invoke(std::get<N>(stages_).function, argument<N>(l)));
      } else {
        ::new (place<N + 1>(l)) value<N + 1>(std::invoke(std::get<N>(stages_).function, argument<N>(l)));
      }
    } catch (...) {
      failed(l.item);
      return false;
    }
    std::destroy_at(std::addressof(value_in<N>(l)));
    l.holds = N + 1 == stages ? 0 : N + 2;
    return true;
  }

  // While stage N runs.
  template <std::size_t N>
  struct running {
    typed_flow& f;
    NOPAL_INLINE explicit running(typed_flow& whole) noexcept : f{whole} {
      if constexpr (passages[N] == passage::serial) f.template gate_of<N>().begins();
    }
    NOPAL_INLINE ~running() {
      if constexpr (passages[N] == passage::serial) f.template gate_of<N>().ends();
    }
    running(running const&) = delete;
    running& operator=(running const&) = delete;
  };

  template <std::size_t N>
  static void* place(line& l) noexcept {
    auto& t = static_cast<typed_line&>(l);
    return N % 2 == 0 ? t.even_value : t.odd_value;
  }
  template <std::size_t N>
  static value<N>& value_in(line& l) noexcept {
    return *std::launder(static_cast<value<N>*>(place<N>(l)));
  }
  template <std::size_t N>
  static decltype(auto) argument(line& l) noexcept {
    if constexpr (N == 0) {
      return *std::move(value_in<0>(l));
    } else {
      return std::move(value_in<N>(l));
    }
  }
  template <std::size_t... N>
  static void drop_value(line& l, std::index_sequence<N...>) noexcept {
    static_cast<void>(((l.holds == N + 1 && (std::destroy_at(std::addressof(value_in<N>(l))), true)) || ...));
  }

  // By the carrier inside of the source's gate; the first one by the caller.
  line& make_line() noexcept {
    std::size_t const n = made_.load(std::memory_order_relaxed);
    made_.store(n + 1, std::memory_order_relaxed);
    return lines_.make(n, static_cast<flow&>(*this));
  }
  bool has_new_line() const noexcept { return made_.load(std::memory_order_relaxed) < tokens_; }  // relaxed: a hint but for that carrier
  std::size_t after(std::size_t slot) const noexcept { return slot + 1 == tokens_ ? 0 : slot + 1; }
  std::size_t before(std::size_t slot) const noexcept { return slot == 0 ? tokens_ - 1 : slot - 1; }

  alignas(tuning::destructive_size) std::size_t const tokens_;  // with what follows, only read
  Source& function_;
  std::tuple<Stages&...> stages_;
  raw_array<typed_line> const lines_;
  std::conditional_t<(in_order > 0), raw_array<row>, no_rows> const rows_;
  gate gates_[serial > 0 ? serial : 1];
  // One for each stage that is not parallel, on lines that change only where items wait for each other.
  alignas(64) ready_line ready_[in_order + serial > 0 ? in_order + serial : 1];
};

}  // namespace nopal::core
