#pragma once

// A job for the models of inboxes: it is taken once, and its taker sees what was pushed.

#include "explorer.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace model {

struct work : nopal::core::resumable {
  var<int> message{0, "a job"};
  int taken = 0;
  int number = 0;
  void take() {
    check(taken++ == 0, "a job is taken once");
    check(message.get() == number + 1, "whoever takes a job sees it as it was pushed");
    message.set(0);
  }
};

}  // namespace model
