#pragma once

// Where a profile finds what it measures. Below: what that is.

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class measured_strand;
struct procedure_start;

/// Two words of each native stack, which stay with it on any thread; and of each thread that works for no pool. Only the thread that runs
/// the stack accesses them.
struct measured_words {
  measured_strand* running;         ///< what is measured now, or null
  procedure_start const* starting;  ///< of the task whose function is about to be called
};

// What a profile measures on a stack, as an interface for the engine, which stops the clock while the strand there waits. A program without
// a profile pays two words of each native stack, and a test where a strand waits. The companion profile implements it:
// nopal/profile/procedure.hpp.

class measured_strand {
 public:
  measured_strand(measured_strand const&) = default;
  measured_strand& operator=(measured_strand const&) = default;
  /// It stops running; on this stack nothing is measured.
  virtual void leave() noexcept = 0;
  /// It runs from now on, on this stack.
  virtual void come_back() noexcept = 0;
  /// It has waited for `what`, and its path follows those that have signalled `what`. Between leave and come_back.
  virtual void follow_signals(void const* what) noexcept = 0;

 protected:
  measured_strand() = default;
  ~measured_strand() = default;
};

/// The words of the stack, or the thread, that runs the caller.
NOPAL_API measured_words& measured_here() noexcept;

/// While it lives, nothing is measured on this stack: the strand there waits, or the scheduler works.
class pause_in_profile {
 public:
  pause_in_profile() noexcept : left_{measured_here().running} {
    if (left_ != nullptr) [[unlikely]]
      left_->leave();
  }
  pause_in_profile(pause_in_profile const&) = delete;
  pause_in_profile& operator=(pause_in_profile const&) = delete;
  ~pause_in_profile() {
    if (left_ != nullptr) [[unlikely]]
      left_->come_back();
  }
  measured_strand* left() const noexcept { return left_; }

 private:
  measured_strand* left_;
};

/// A wait for `what`: a pause. After a call of came() the measured path follows those that have signalled `what`.
class wait_in_profile {
 public:
  explicit wait_in_profile(void const* what) noexcept : what_{what} {}
  void came() noexcept {
    if (pause_.left() != nullptr) [[unlikely]]
      pause_.left()->follow_signals(what_);
  }

 private:
  void const* what_;
  pause_in_profile pause_;
};

}  // namespace nopal::core
