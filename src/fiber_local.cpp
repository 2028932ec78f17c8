#include "nopal/fiber_local.hpp"

#include <memory>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/in_order.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "wait/turn.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The place of one value, and the turn to make it.
struct any_fiber_local::place : fiber_value {
  any_fiber_local* owner;
  std::atomic<void*> value{nullptr};
  basic_mutex<stack_waits> making;

  explicit place(any_fiber_local& o) noexcept : fiber_value{free, nullptr}, owner{&o} {}

  /// Destroys the value, if there is one. By its fiber, while nobody else uses it.
  void end_value() noexcept {
    void* const v = value.exchange(nullptr, std::memory_order_seq_cst);
    if (v == nullptr) return;
    owner->end_(v);
    owner->values_.fetch_sub(1, std::memory_order_seq_cst);
  }
  /// fiber_value::end.
  static void free(fiber_value& me) noexcept {
    auto& self = static_cast<place&>(me);
    self.end_value();
    delete &self;
  }

  class turn {
   public:
    explicit turn(place& p) : place_{p} {
      take_turn(p.making,
                "nopal: making a fiber_local's value has asked for that value; use it only once it is made, or give what making it needs a "
                "fiber_local of its own");
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { pass_turn(place_.making); }

   private:
    place& place_;
  };
};

void* any_fiber_local::find_or_make() {
  in_order();
  fiber_values& mine = *values_here();
  auto* at = static_cast<place*>(mine.find(this));
  if (at != nullptr) {
    if (void* const v = at->value.load(std::memory_order_acquire); v != nullptr) return v;  // acquire: pairs with the store below
  } else {
    auto fresh = std::make_unique<place>(*this);
    at = static_cast<place*>(&mine.add(*fresh, this));
    if (at == fresh.get()) static_cast<void>(fresh.release());
  }
  place::turn const my_turn{*at};
  void* v = at->value.load(std::memory_order_relaxed);  // relaxed: the mutex orders it
  if (v != nullptr) return v;
  at->owner = this;  // of an old place, another's
  v = make_(*this);
  values_.fetch_add(1, std::memory_order_seq_cst);
  at->value.store(v, std::memory_order_release);  // release: pairs with the acquires in find and above
  if (current_or_null() == nullptr) thread_lent_its_values();
  return v;
}

void* any_fiber_local::find() const noexcept {
  in_order();
  auto const* const at = static_cast<place const*>(values_here()->find(this));
  return at != nullptr ? at->value.load(std::memory_order_acquire) : nullptr;  // acquire: pairs with the store in find_or_make
}

any_fiber_local::~any_fiber_local() {
  if (auto* const at = static_cast<place*>(values_here()->find(this)); at != nullptr) {
    at->end_value();
    at->of.store(nullptr, std::memory_order_release);  // release: pairs with the load in fiber_values::find
  }
  if (values_.load(std::memory_order_seq_cst) != 0)
    die_unless_in_exit(
        "a fiber_local was destroyed while another fiber, job or thread has a value of it; make it static, or wait first for what uses it");
}

void die_ending_value(std::exception_ptr const& e) noexcept {
  die_in(nullptr,
         "the destructor of a fiber_local's value has thrown: %s; a fiber ends with that, so nobody could catch it; catch it there",
         message_of(e));
}

}  // namespace nopal::core
