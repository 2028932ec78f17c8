#pragma once

// The same algorithms of others: the standard library's parallel mode, which GCC's library runs on oneTBB, and oneTBB's own if it has them.

#include <map>
#include <string>

#include "subjects.hpp"

namespace scale {

/// By the names of the subjects; dear elements only.
[[nodiscard]] std::map<std::string, subject::way> parallel_mode();
[[nodiscard]] std::map<std::string, subject::way> tbb();

}  // namespace scale
