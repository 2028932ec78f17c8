#pragma once

#include <string>
#include <utility>

#include "fork_and_call.hpp"

namespace bench {

// No runtime at all: the serial projection, which speed-up and overhead are measured against.
struct serial_runtime {
  explicit serial_runtime(unsigned /*workers*/) {}
  static std::string version() { return "serial"; }

  template <class F, class... A>
  decltype(auto) run(F&& f, A&&... a) {
    return f(std::forward<A>(a)...);
  }
};
using runtime = serial_runtime;

struct invoker {
  template <class... F>
  [[gnu::always_inline]] void operator()(F&&... f) {
    (call_here(f), ...);
  }
};

struct group {
  template <class F>
  [[gnu::always_inline]] void fork(F&& f) {
    call_here(f);
  }
  template <class F>
  [[gnu::always_inline]] void fork_and_join(F&& f) {
    call_here(f);
  }
  void join() {}
};

}  // namespace bench
