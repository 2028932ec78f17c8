// What the programs of the site's blocks use without an include: nopal, the standard library, and check.
#pragma once

#include <nopal/nopal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Ends the program with status 1 unless the page is right.
inline void check_at(bool holds, char const* what, char const* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
  std::exit(1);
}
#define check(...) check_at(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
