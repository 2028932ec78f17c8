#pragma once

// The explorer's state in the middle of an execution: of threads, of the memory that they share, and of the decisions so far.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "explorer.hpp"
#include "nopal/core/stack/context.hpp"

namespace model::state {

inline constexpr int main_thread = most_threads;  // setup and finally
inline constexpr int most_locations = 91;
inline constexpr int view_size = 96;
static_assert(most_threads + 1 + most_locations == view_size);
inline constexpr std::size_t stack_size = 128 * 1024;
inline constexpr int most_looks = 32;

using stamp = std::int16_t;

/// What a thread, or the reader of a message, knows: of each thread its position (happens-before), of each location the oldest message that
/// may still be read.
struct alignas(32) view {
  std::array<stamp, view_size> at{};

  stamp& thread(int t) noexcept { return at[static_cast<std::size_t>(t)]; }
  stamp& location(int l) noexcept { return at[static_cast<std::size_t>(most_threads + 1 + l)]; }
  stamp location(int l) const noexcept { return at[static_cast<std::size_t>(most_threads + 1 + l)]; }

  void join(view const& o, std::size_t used) noexcept {
    for (std::size_t i = 0; i < used; ++i) at[i] = std::max(at[i], o.at[i]);
  }
  bool knows_no_more_than(view const& o, std::size_t used) const noexcept {
    for (std::size_t i = most_threads + 1; i < used; ++i)
      if (at[i] > o.at[i]) return false;
    return true;
  }
  /// Without happens-before: what a fence's place in the single total order tells.
  void join_locations(view const& o, std::size_t used) noexcept {
    for (std::size_t i = most_threads + 1; i < used; ++i) at[i] = std::max(at[i], o.at[i]);
  }
};

struct message {
  detail::raw value;
  int event;     // index in the trace, -1: setup
  bool carries;  // a view, for those who acquire
  view seen;
};

struct location {
  std::vector<message> messages;  // in modification order
  std::size_t count = 0;          // used
  char const* kind = "";
  int creator = main_thread;
  stamp created = 0;

  message& push() {
    if (count == messages.size()) messages.emplace_back();
    return messages[count++];
  }
  int newest() const noexcept { return static_cast<int>(count) - 1; }
};

using mask = std::array<std::uint64_t, 2>;  // of locations
static_assert(most_locations <= 128);

/// An operation as others see it.
struct access {
  enum kind : std::uint8_t { nothing, load, write, change, failed_change, await, sleep, wake, fence, heavy } what = nothing;
  bool single = false;       // seq_cst
  bool only_learns = false;  // a fence or load that tells the order of all seq_cst operations nothing new
  int at = -1;               // location
  int read = -1;             // message
  int written = -1;
  mask many{};  // of an await

  bool touches(int l) const noexcept {
    if (what == await) return (many[static_cast<std::size_t>(l) / 64] >> (l % 64) & 1) != 0;
    return at == l;
  }
  bool writes() const noexcept { return what == write || what == change; }
  bool is_load() const noexcept { return what == load || what == await || what == failed_change; }
};

/// True if they access the same object.
inline bool meet(access const& a, access const& b) noexcept {
  if (a.at >= 0) return b.touches(a.at);
  if (b.at >= 0) return a.touches(b.at);
  return false;
}

struct event {
  int thread = -1;
  int index = 0;  // of its thread's, from 1
  access done;
  std::array<stamp, most_threads> clock{};  // the number of events of each thread that precede it, in every equivalent execution
  // For the trace.
  action what = action::none;
  std::memory_order order{};
  where at{};
  detail::raw read = 0, wrote = 0;
  int newest = 0;  // message at the location
};

/// One decision: which thread runs next, and with what value.
struct node {
  std::uint8_t enabled = 0, todo = 0, done = 0, asleep = 0;
  std::array<stamp, most_threads> at_least{};  // older messages were read in an earlier execution
  int chosen = -1;
  int value = 0, values = 1;
  int preemptions = 0;
  event e;
};

struct look {
  int location, message;
};

struct thread_state {
  enum : std::uint8_t { ready, asleep, woken, done } status = ready;
  view now;
  view later;  // what an acquire fence would add
  bool has_later = false;
  view fenced;  // by the last release fence
  bool has_fenced = false;
  access next;                           // what it is about to do
  std::array<look, most_looks> looks{};  // since it last relaxed
  int looked = 0;
  int spins = 0;
  int events = 0;
  int last_event = -1;
  int sleeps_at = -1;
  std::int64_t clock = 0;
  // A store that a missing light_fence lets pass the next load.
  bool delays = false;
  int delayed_at = -1;
  detail::raw delayed_value = 0;
  std::memory_order delayed_order{};
  where delayed_where{};
  site const* last_store = nullptr;

  std::function<void()>* body = nullptr;
  nopal::core::context context;
  std::unique_ptr<std::byte[]> stack;
};

inline bool acquires(std::memory_order o) noexcept {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst ||
         o == std::memory_order_consume;
}
inline bool releases(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

inline std::string_view base_name(char const* path) noexcept {
  std::string_view const p{path};
  auto const slash = p.rfind('/');
  return slash == p.npos ? p : p.substr(slash + 1);
}

}  // namespace model::state
