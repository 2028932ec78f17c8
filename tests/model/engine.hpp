#pragma once

// The explorer's engine: runs the program once for each of its executions. Its parts are the files explorer_*.cpp beside this one.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "explorer.hpp"
#include "explorer_state.hpp"
#include "nopal/core/stack/context.hpp"

namespace model {

using namespace state;

class engine {
 public:
  explicit engine(config const& c) : config_{c} {
    for (thread_state& t : threads_) t.stack.reset(new std::byte[stack_size]);
    nodes_.reserve(512);
    if (!c.replay.empty()) {
      std::istringstream in{c.replay};
      std::string word;
      while (in >> word) {
        auto const dot = word.find('.');
        replay_.emplace_back(std::stoi(word), dot == word.npos ? 0 : std::stoi(word.substr(dot + 1)));
      }
    }
  }

  result run(std::function<void(program&)> const& p);

  // ---- Called by the threads.

  detail::id make_location(detail::raw initial, char const* kind);
  int number(detail::id& l) {
    if (l == 0) l = make_location(0, "word");
    location const& x = locations_[l - 1];
    if (me().now.thread(x.creator) < x.created) fail("an atomic object is used where its construction need not have happened");
    return static_cast<int>(l) - 1;
  }
  detail::raw load(int l, std::memory_order o, where const& at);
  void store(int l, detail::raw v, std::memory_order o, where const& at);
  detail::raw begin_change(int l, action a, std::memory_order o, where const& at);
  void end_change(detail::raw v);
  bool swap_if(int l, detail::raw& expected, detail::raw v, std::memory_order o, std::memory_order on_failure, where const& at);
  void fence(std::memory_order o, where const& at);
  void light_fence(where const& at);
  void heavy_fence(where const& at);
  void relax(where const& at);
  void wait(int l, detail::raw expected, where const& at);
  void wake(int l, bool all, where const& at);
  int choose(int n, where const& at);
  std::int64_t now() { return me().clock += config_.clock_step; }
  void plain(detail::history& h, bool writes, char const* name, where const& at);
  void check(bool ok, char const* what) {
    if (!ok) fail(what);
  }
  int self() const noexcept { return self_; }
  moment here() noexcept { return {self_, me().now.thread(self_)}; }
  bool happens_before(moment m) noexcept { return m.thread < 0 || me().now.thread(m.thread) >= m.stamp; }

 private:
  thread_state& me() noexcept { return threads_[static_cast<std::size_t>(self_)]; }
  std::size_t used() const noexcept { return most_threads + 1 + locations_used_; }

  static void begin_thread(nopal::core::context& c) noexcept;
  bool in_main() const noexcept { return self_ == main_thread; }
  /// Does not return to a thread.
  void fail(std::string what);
  void record_failure(std::string what) {
    if (ending_ == ending::failure) return;
    ending_ = ending::failure;
    failure_ = std::move(what);
  }
  [[noreturn]] void leave() {
    nopal::core::switch_to(me().context, home_);
    std::abort();
  }

  site* note(action a, std::memory_order o, where const& at);
  std::memory_order effective(action a, std::memory_order o, where const& at, bool& removed);
  std::memory_order effective(action a, std::memory_order o, where const& at) {
    bool removed = false;
    return effective(a, o, at, removed);
  }

  bool enabled(int t) const noexcept;
  /// Another thread's newer message with another value, at the location of its look; and how many of its looks have one.
  int news(thread_state const& t, int wanted, look* found) const noexcept;
  int decide();
  void before(access const& a);
  void arrive();
  event& after(action a, std::memory_order o, where const& at);
  int pick(int n);
  void find_races(int index);
  void add_backtrack(int earlier, int later);
  bool advance();
  void put_asleep(node& n, node const& before);

  void read_view(message const& m, std::memory_order o);
  void write_message(int l, detail::raw v, std::memory_order o, message const* continues);
  void perform_store(int l, detail::raw v, std::memory_order o, where const& at);
  void flush_delayed();
  void remember(int l, int m);
  void tick() { ++me().now.thread(self_); }
  detail::raw load_now(int l, std::memory_order o, where const& at);

  void reset();
  std::string trace() const;
  std::string choices() const;
  std::string show(location const& l, detail::raw v) const;

  config config_;
  std::vector<std::pair<int, int>> replay_;
  std::array<thread_state, most_threads + 1> threads_;
  int thread_count_ = 0;
  int self_ = main_thread;
  nopal::core::context home_;
  std::vector<location> locations_;
  std::size_t locations_used_ = 0;
  view single_;  // what the seq_cst operations so far have read or written, and the seq_cst fences seen

  std::vector<node> nodes_;  // the decisions of this execution, and the choices left of them
  int depth_ = 0;
  int fresh_ = 0;  // from here on the execution differs from the one before

  std::vector<int> races_, kept_;

  // A change under way.
  int change_at_ = -1;
  action change_what_{};
  std::memory_order change_order_{};
  where change_where_{};
  detail::raw change_read_ = 0;

  enum class ending { none, finished, redundant, cut, failure } ending_ = ending::none;
  std::string failure_;
  std::deque<site> sites_;
  std::array<std::vector<std::pair<where, site*>>, 256> by_place_;
  result result_;
};

}  // namespace model
