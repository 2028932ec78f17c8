#pragma once

#include <string>
#include <utility>

#include <libfork.hpp>

namespace bench {

struct libfork_runtime {
  explicit libfork_runtime(unsigned workers) : pool{workers} {}

  static std::string version() {
    return "libfork " + std::to_string(LF_VERSION_MAJOR) + '.' + std::to_string(LF_VERSION_MINOR) + '.' + std::to_string(LF_VERSION_PATCH);
  }

  template <class F, class... A>
  auto run(F f, A&&... a) {
    return lf::sync_wait(pool, f, std::forward<A>(a)...);
  }

#if defined(NOPAL_BENCH_LIBFORK_BUSY)
  lf::busy_pool pool;
#else
  lf::lazy_pool pool;
#endif
};
using runtime = libfork_runtime;

}  // namespace bench
