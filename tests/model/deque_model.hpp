#pragma once

// The shipped deque, its owner and its thieves as short scripts.

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "explorer.hpp"
#include "nopal/core/deque/deque.hpp"

namespace model {

/// One model of the deque.
struct deque_script {
  char const* name;
  /// + push, - pop, ? a fork's poll, ! publish_all, g ensure_room for more than there is, f later pops take none of the entries that are
  /// there now, e rewind if it is empty, R rewind in any case: a bug unless it is empty, m another mode if it is empty, M another mode in
  /// any case: a bug unless it is empty.
  char const* owner;
  std::vector<int> thieves;  ///< how often each tries to steal
  nopal::core::places places = nopal::core::places::nested;
  int capacity = 4;
  bool hides = true;
};

/// A place of the buffer is used again only after the thread that took its entry has read it. The explorer keeps each thread's program
/// order, so a read that is too late cannot show in its value; here it shows as a read that does not happen before the next write.
class place_reads {
 public:
  void read(std::size_t place) { readers_[place][thread()] = {here(), false, false}; }
  /// The read counted: its thread has taken the entry.
  void took(std::size_t place) {
    reader& r = readers_[place][thread()];
    r.took = true;
    check(!r.overwritten, "a place of the buffer is used again only after it was read");
  }
  void missed(std::size_t place) { readers_[place][thread()] = {}; }
  void write(std::size_t place) {
    for (reader& r : readers_[place]) {
      if (happens_before(r.when)) continue;
      r.overwritten = true;
      check(!r.took, "a place of the buffer is used again only after it was read");
    }
  }

 private:
  struct reader {
    moment when;
    bool took = false, overwritten = false;
  };
  static std::size_t thread() { return static_cast<std::size_t>(self()); }
  std::array<std::array<reader, most_threads + 1>, 16> readers_{};
};

template <nopal::core::places Places>
struct deque_state {
  using deque = nopal::core::basic_deque<sync, Places>;
  static constexpr std::size_t most = 12;

  deque d;
  std::array<var<int>, most> frames;  ///< what the entries stand for: written by an entry's holder, before it gives the entry to others
  std::array<int, most> taken{};      ///< how often
  int pushed = 0;
  int depth = 0;  ///< what the owner believes to have in the deque
  std::vector<int> mine;
  place_reads places;
  std::array<std::size_t, most> place{};  ///< of each entry
  bool grew = false;
  std::uint32_t mode = 0;  ///< of what the owner pushes now
  std::array<std::uint32_t, most> mode_of{};
  bool const has_modes;

  explicit deque_state(deque_script const& s) : d{s.capacity}, has_modes{std::strpbrk(s.owner, "mM") != nullptr} {
    if (s.hides) {
      d.set_limit(1);
    } else {
      d.hide_nothing();
    }
  }

  void take(typename deque::entry e, char const* what) {
    auto const i = static_cast<std::size_t>(e - 1);
    check(e >= 1 && e <= most, what);
    check(frames[i].get() == static_cast<int>(e), "whoever takes an entry sees what was written before it was pushed");
    check(taken[i]++ == 0, "an entry is taken once");
    frames[i].set(0);  // and it is the taker's alone
  }

  void push() {
    auto const e = static_cast<typename deque::entry>(++pushed);
    frames[e - 1].set(static_cast<int>(e));
    if constexpr (Places == nopal::core::places::ring) {
      if (d.must_grow()) ensure_room(1);
      place[e - 1] = static_cast<std::size_t>(d.bottom() & (d.capacity() - 1));
    } else {
      place[e - 1] = static_cast<std::size_t>(depth);
    }
    if (!grew) places.write(place[e - 1]);
    mode_of[e - 1] = mode;
    d.push(e);
    mine[static_cast<std::size_t>(depth++)] = static_cast<int>(e);
  }

  /// A pointer that is never followed.
  static nopal::core::fiber_values* values_in(std::uint32_t m) {
    return reinterpret_cast<nopal::core::fiber_values*>(std::uintptr_t{m});  // NOLINT(performance-no-int-to-ptr)
  }
  void set_next() {
    ++mode;
    d.set_offered_in({{{mode}, mode}, values_in(mode)});
  }

  void ensure_room(typename deque::index n) {
    auto const before = d.capacity();
    d.ensure_room(n);
    grew = grew || d.capacity() != before;
  }

  void steal() {
    std::size_t at = deque_state::most;
    nopal::core::strand_context in{};
    auto const e = d.steal(
        [&](typename deque::entry x) {
          if (x != 0 && x <= most && !grew) places.read(at = place[x - 1]);
          return true;
        },
        has_modes ? &in : nullptr);
    if (e != 0)
      check(in.mode.bits == mode_of[e - 1] && in.region == mode_of[e - 1] && in.values == values_in(mode_of[e - 1]),
            "a thief has the mode and the region in which its entry was pushed");
    if (e != 0 && at != most) places.took(at);
    if (e == 0 && at != most) places.missed(at);
    if (e != 0) take(e, "a thief gets an entry");
  }

  /// An owner with nested entries knows what it pops; the owner of a ring reads it first.
  void pop(nopal::core::basic_deque<sync>::index floor) {
    if constexpr (Places == nopal::core::places::ring) {
      if (d.empty()) return;
      auto const e = d.newest();
      if (d.pop() || d.pop_slow()) take(e, "the ring's newest is an entry");
    } else {
      if (depth == 0) return;
      auto const e = static_cast<typename deque::entry>(mine[static_cast<std::size_t>(--depth)]);
      if (d.pop() || d.pop_slow(floor)) {
        take(e, "");
      } else {
        check(d.looks_empty(), "an owner that loses a pop has an empty deque");  // empty would acquire what pop_slow must
        d.rewind();
        depth = 0;  // and everything older was stolen
      }
    }
  }

  void own(char const* script) {
    typename deque::index floor = 0;
    for (char const* c = script; *c != 0; ++c) {
      switch (*c) {
        case '+': push(); break;
        case '-': pop(floor); break;
        case '?':
          if (d.was_requested()) d.publish();
          break;
        case '!': d.publish_all(); break;
        case 'f': floor = d.bottom(); break;
        case 'e':
          if (!d.empty()) break;
          d.rewind();
          depth = 0;
          break;
        case 'R': d.rewind(); break;
        case 'm':
          if (d.empty()) set_next();
          break;
        case 'M': set_next(); break;
        case 'g': ensure_room(d.capacity() + 1 - (d.bottom() - d.oldest())); break;
        default: check(false, "a letter that no script has");
      }
    }
  }

  /// At the end: what no thread has taken is still there.
  void account() {
    while (!d.empty()) {
      if constexpr (Places == nopal::core::places::ring) {
        pop(0);
      } else {
        auto const e = d.steal();
        if (e == 0) {
          d.publish_all();
        } else {
          take(e, "what is left is an entry");
        }
      }
    }
    for (int i = 0; i < pushed; ++i) check(taken[static_cast<std::size_t>(i)] == 1, "no entry is lost");
  }
};

template <nopal::core::places Places>
void deque_program(deque_script const& s, program& p) {
  auto& state = p.make<deque_state<Places>>(s);
  state.mine.assign(deque_state<Places>::most, 0);
  p.thread([&state, &s] { state.own(s.owner); });
  for (int const n : s.thieves) {
    p.thread([&state, n] {
      for (int i = 0; i < n; ++i) state.steal();
    });
  }
  p.finally([&state] { state.account(); });
}

inline void deque_program(deque_script const& s, program& p) {
  if (s.places == nopal::core::places::ring) {
    deque_program<nopal::core::places::ring>(s, p);
  } else {
    deque_program<nopal::core::places::nested>(s, p);
  }
}

}  // namespace model
