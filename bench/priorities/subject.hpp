#pragma once

// What the benchmark of priorities measures: a way to fill a pool with leaves, and a way to give it what is more urgent.

#include <atomic>
#include <functional>
#include <string>

namespace bench {

/// Works for as long as one leaf takes.
void leaf();

/// A way to give the leaves, and a way to give a job that is to begin before them.
struct subject {
  std::string name;
  std::function<void(std::atomic<int>& left)> give;      ///< the other work: counts `left` down for each leaf
  std::function<void(std::function<void()>)> give_high;  ///< null: no such job comes
};

}  // namespace bench
