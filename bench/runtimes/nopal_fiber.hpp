#pragma once

// nopal's fibers, which wait for others by a counter.

#include <utility>

#include "nopal.hpp"

namespace bench {

class group {
 public:
  template <class F>
  NOPAL_INLINE void fork(F&& f) {
    nopal::spawn(left_, std::forward<F>(f));
  }
  template <class F>
  NOPAL_INLINE void fork_and_join(F&& f) {
    fork(std::forward<F>(f));
    join();
  }
  NOPAL_INLINE void join() { nopal::wait_for(left_); }

 private:
  nopal::counter left_;
};

}  // namespace bench
