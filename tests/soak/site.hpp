#pragma once

// The site of one program: its pools, its counts, and its errors.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "faults.hpp"
#include "nopal/pool.hpp"
#include "program.hpp"

namespace soak {

/// The exception of a node. Counts its living instances.
struct numbered {
  std::uint64_t number;
  std::atomic<long>* alive;

  numbered(std::uint64_t n, std::atomic<long>& count) noexcept : number{n}, alive{&count} { ++*alive; }
  numbered(numbered const& o) noexcept : number{o.number}, alive{o.alive} { ++*alive; }
  numbered& operator=(numbered const&) = delete;
  ~numbered() { --*alive; }
};

struct site {
  std::array<nopal::pool*, 2> pools;

  bool default_pool;  ///< may be used

  site(nopal::pool& own, nopal::pool& other, bool with_default) noexcept : pools{&own, &other}, default_pool{with_default} {}

  std::atomic<long> alive{0};  ///< nodes under way, closures, boxes, exceptions
  std::array<std::atomic<std::uint64_t>, ways> forks{};

  nopal::pool& pool(std::size_t k) const noexcept { return *pools[k % 2]; }

  /// Keeps the first complaint.
  void wrong(node const& n, char const* what) {
    faults::spared const mine;
    std::lock_guard const guard{mutex_};
    if (wrong_.empty()) wrong_ = std::string{"node "} + std::to_string(n.id) + ", " + name(n.how) + ": " + what;
  }
  std::string complaint() const {
    std::lock_guard const guard{mutex_};
    return wrong_;
  }

 private:
  mutable std::mutex mutex_;
  std::string wrong_;
};

/// An object that must be destroyed: in closures, and while a node runs.
class token {
 public:
  explicit token(site& s) noexcept : alive_{&s.alive} { ++*alive_; }
  token(token const& o) noexcept : alive_{o.alive_} { ++*alive_; }
  token& operator=(token const&) = delete;
  ~token() { --*alive_; }

 private:
  std::atomic<long>* alive_;
};

/// Begins the program at its root, from a thread outside, in one of several ways. Throws what the program throws.
std::uint64_t run(site& s, program const& p);

}  // namespace soak
