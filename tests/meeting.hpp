#pragma once

// Leaves that neither fork nor use the CPU; none ends before all have begun: a greedy scheduler starts them all.

#include <atomic>
#include <chrono>
#include <thread>

namespace test {

class meeting {
 public:
  explicit meeting(int all) noexcept : missing_{all} {}

  /// Sleeps until all are here, or half a minute.
  void attend() noexcept {
    --missing_;
    auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (!complete() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    if (!complete()) failed_ = true;
  }
  /// After the leaves have ended: true if each met all others.
  bool took_place() const noexcept { return complete() && !failed_; }

 private:
  bool complete() const noexcept { return missing_ == 0; }

  std::atomic<int> missing_;
  std::atomic<bool> failed_{false};
};

}  // namespace test
