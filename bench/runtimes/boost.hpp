#pragma once

#include <string>

#include <boost/version.hpp>

namespace bench {

// Boost's contexts, and its fibers with the scheduler of one thread, round robin.
struct boost_runtime {
  explicit boost_runtime(unsigned /*workers*/) {}
  static std::string version() {
    return "Boost " + std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
  }
};

}  // namespace bench
