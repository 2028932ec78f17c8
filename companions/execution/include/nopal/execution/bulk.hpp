#pragma once

// bulk, bulk_chunked and bulk_unchunked on a pool: loops of nopal, run by the worker on which what comes before has completed. So values go
// to the bodies and on to the receiver where they are, and nothing is allocated. Next: work.hpp; algorithm/parallel_for.hpp.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstdint>
#include <exception>
#include <stdexec/execution.hpp>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/execution/work.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

// The loop of a bulk, on a worker of its pool. Called by parallel_scheduler.cpp, too.

/// How a loop has ended.
struct bulk_outcome {
  std::exception_ptr thrown;  ///< by a body: what serial execution would have thrown first; or std::bad_alloc
  bool stopped = false;
};

/// Up to so many iterations for each worker are forked by halves at once: they may be long, and no block tells so before it has run.
inline constexpr std::uint64_t few = 4;

template <class Shape, class Block>
void fork_each(Shape first, Shape last, Block& block) {
  if (last - first <= Shape{1}) {
    throw_if_stopped();
    return block(first, last);
  }
  Shape const middle = static_cast<Shape>(first + (last - first) / Shape{2});
  nopal::parallel_invoke([&] { fork_each(first, middle, block); }, [&] { fork_each(middle, last, block); });
}

/// Calls block(first, last) for blocks that together are [0, shape), in a region that token() asks; once for all if not Parallel. By a
/// worker of the pool, as a rule.
template <bool Parallel, class Shape, class Token, class Block>
bulk_outcome run_bulk(pool_state& pool, Shape shape, Token token, Block block) noexcept {
  bulk_outcome o;
  if (worker const* const w = current_or_null(); w == nullptr || &w->pool() != &pool) [[unlikely]] {
    auto there = [&] { o = run_bulk<Parallel>(pool, shape, token, block); };
    awaited_job<decltype(there)&> j{there};
    j.pool = &pool;
    try {
      core::run_and_wait(pool, j, j.done);
    } catch (...) {  // std::bad_alloc; nothing has run
      o.thrown = caught();
    }
    return o;
  }
  try {
    asked_by<decltype(token())> const in{token()};
    throw_if_stopped();
    if (!(Shape{} < shape)) return o;
    if constexpr (!Parallel) {
      block(Shape{}, shape);
    } else if (static_cast<std::uint64_t>(shape) <= few * pool.workers.size()) {
      senders::fork_each(Shape{}, shape, block);
    } else {
      nopal::parallel_for_blocks(Shape{}, shape, block);
    }
  } catch (stopped const&) {
    o.stopped = true;
  } catch (...) {
    o.thrown = caught();
  }
  return o;
}

// ---- The senders.

template <bool Parallel, bool Chunked, class Shape, class Function, class Receiver>
struct bulk_state {
  pool_state& pool;
  Shape shape;
  Function function;
  Receiver receiver;
};

/// What the sender before gets.
template <class State>
struct bulk_receiver;
template <bool Parallel, bool Chunked, class Shape, class Function, class Receiver>
struct bulk_receiver<bulk_state<Parallel, Chunked, Shape, Function, Receiver>> {
  using receiver_concept = stdexec::receiver_tag;

  bulk_state<Parallel, Chunked, Shape, Function, Receiver>* state;

  template <class... Values>
  void set_value(Values&&... values) noexcept {
    bulk_outcome const o = run_bulk<Parallel>(
        state->pool, state->shape, [this] { return stdexec::get_stop_token(stdexec::get_env(state->receiver)); },
        [&](Shape first, Shape last) {
          // A copy of a small closure, as parallel_for makes one for each block: see core/loop/loop.hpp.
          if constexpr (Chunked) {
            constexpr bool copied = copied_for_a_block<Function, Shape, Shape, std::remove_reference_t<Values>&...>;
            body_of_block<Function, copied> call = static_cast<source_of_body<Function, copied>>(state->function);
            call(first, last, values...);
          } else {
            constexpr bool copied = copied_for_a_block<Function, Shape, std::remove_reference_t<Values>&...>;
            body_of_block<Function, copied> call = static_cast<source_of_body<Function, copied>>(state->function);
            for (; first < last; ++first) call(Shape(first), values...);
          }
        });
    if (o.thrown != nullptr) {
      stdexec::set_error(static_cast<Receiver&&>(state->receiver), std::exception_ptr{o.thrown});
    } else if (o.stopped) {
      stdexec::set_stopped(static_cast<Receiver&&>(state->receiver));
    } else {
      stdexec::set_value(static_cast<Receiver&&>(state->receiver), static_cast<Values&&>(values)...);
    }
  }
  template <class Error>
  void set_error(Error&& e) noexcept {
    stdexec::set_error(static_cast<Receiver&&>(state->receiver), static_cast<Error&&>(e));
  }
  void set_stopped() noexcept { stdexec::set_stopped(static_cast<Receiver&&>(state->receiver)); }
  auto get_env() const noexcept { return stdexec::get_env(state->receiver); }
};

template <class State, class Before>
class bulk_operation {
 public:
  using operation_state_concept = stdexec::operation_state_tag;

  template <class... State_>
  explicit bulk_operation(Before&& before, State_&&... s)
      : state_{static_cast<State_&&>(s)...}, before_(stdexec::connect(static_cast<Before&&>(before), bulk_receiver<State>{&state_})) {}
  bulk_operation(bulk_operation const&) = delete;
  bulk_operation& operator=(bulk_operation const&) = delete;
  void start() & noexcept { stdexec::start(before_); }

 private:
  State state_;
  stdexec::connect_result_t<Before, bulk_receiver<State>> before_;
};

template <bool Parallel, bool Chunked, class Shape, class Function, class Before>
class bulk_sender {
 public:
  using sender_concept = stdexec::sender_tag;

  bulk_sender(pool_state& pool, Shape shape, Function f, Before before)
      : pool_{&pool}, shape_{shape}, function_(static_cast<Function&&>(f)), before_(static_cast<Before&&>(before)) {}

  /// The pool, or a region of nopal around, may stop any loop; and it is an error if there is no memory for a stop region.
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() {
    auto before = stdexec::get_completion_signatures<stdexec::__copy_cvref_t<Self, Before>, Env...>();
    return stdexec::__concat_completion_signatures(
        before, stdexec::completion_signatures<stdexec::set_error_t(std::exception_ptr), stdexec::set_stopped_t()>{});
  }
  template <stdexec::receiver Receiver>
  auto connect(Receiver r) && {
    return operation<Receiver>{static_cast<Before&&>(before_), *pool_, shape_, static_cast<Function&&>(function_),
                               static_cast<Receiver&&>(r)};
  }
  template <stdexec::receiver Receiver>
    requires std::copy_constructible<Before>
  auto connect(Receiver r) const& {
    return operation<Receiver>{Before(before_), *pool_, shape_, function_, static_cast<Receiver&&>(r)};
  }
  decltype(auto) get_env() const noexcept { return stdexec::get_env(before_); }

 private:
  template <class Receiver>
  using operation = bulk_operation<bulk_state<Parallel, Chunked, Shape, Function, Receiver>, Before>;

  pool_state* pool_;
  Shape shape_;
  [[no_unique_address]] Function function_;
  Before before_;
};

/// `bulk` comes as a bulk_chunked whose function calls the user's for each index. The loop calls that itself: then a compiler sees its closure.
template <class Function>
struct bulk_function {
  static constexpr bool is_chunked = true;
  using type = Function;
  static Function&& of(Function& f) noexcept { return static_cast<Function&&>(f); }
};
template <class Each>
struct bulk_function<stdexec::__bulk::__as_bulk_chunked_fn<Each>> {
  static constexpr bool is_chunked = false;
  using type = Each;
  static Each&& of(stdexec::__bulk::__as_bulk_chunked_fn<Each>& f) noexcept { return static_cast<Each&&>(f.__fun_); }
};

/// Makes it of the parts of stdexec's sender.
struct make_bulk {
  pool_state& pool;

  template <class Tag, class Data, class Before>
  auto operator()(Tag, Data&& data, Before&& before) const {
    auto [policy, shape, function] = static_cast<Data&&>(data);
    using given = std::remove_cvref_t<decltype(policy.__get())>;
    using called = bulk_function<decltype(function)>;
    constexpr bool parallel = std::same_as<given, stdexec::parallel_policy> || std::same_as<given, stdexec::parallel_unsequenced_policy>;
    constexpr bool chunked = std::same_as<Tag, stdexec::bulk_chunked_t> && called::is_chunked;
    return bulk_sender<parallel, chunked, decltype(shape), typename called::type, std::remove_cvref_t<Before>>{
        pool, shape, called::of(function), static_cast<Before&&>(before)};
  }
};

}  // namespace nopal::core::senders
