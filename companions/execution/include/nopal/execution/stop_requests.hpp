#pragma once

// A receiver's stop token asks a stop region of nopal: while one of these lives, the caller runs in a region that the token asks, so that
// nopal::stop_requested, loops and waits see the request. Used by bulk.hpp and as_sender.hpp. Next: core/stop/here.hpp, inside_region.

#include "nopal/core/compiler/config.hpp"

#include <memory>
#include <stdexec/execution.hpp>
#include <stop_token>
#include <utility>

#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

/// The token of a receiver.
template <class Receiver>
using token_of = stdexec::stop_token_of_t<stdexec::env_of_t<Receiver>>;

/// A token's callback. Any thread; it blocks on nothing but a waiter that enters or leaves at this moment.
struct ask_region {
  region_id region;
  void operator()() const noexcept { region_of(region).request.make(); }
};

/// In the frame of the code that is to be asked, which runs in it until it is destroyed. Throws std::bad_alloc.
template <class Token>
class asked_by {
 public:
  explicit asked_by(Token t) : asks_{t.stop_possible()} {
    if (asks_) std::construct_at(&in_, std::move(t));
  }
  asked_by(asked_by const&) = delete;
  asked_by& operator=(asked_by const&) = delete;
  ~asked_by() {
    if (asks_) std::destroy_at(&in_);
  }

 private:
  struct region_with_token {
    inside_region region;
    stdexec::stop_callback_for_t<Token, ask_region> token;  // leaves before the region ends

    explicit region_with_token(Token t) : region{std::stop_token{}, time_point::max()}, token{std::move(t), ask_region{region_here()}} {}
  };
  bool const asks_;
  union {  // no std::optional: GCC 12 warns of that, in the program of whoever includes this
    region_with_token in_;
  };
};

/// Nobody asks.
template <stdexec::unstoppable_token Token>
class asked_by<Token> {
 public:
  explicit asked_by(Token const&) noexcept {}
};

}  // namespace nopal::core::senders
