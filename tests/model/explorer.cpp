#include "explorer.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <sstream>
#include <string_view>

#include "nopal/core/stack/context.hpp"

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace model {

namespace {

constexpr int main_thread = most_threads;  // setup and finally
constexpr int most_locations = 91;
constexpr int view_size = 96;
static_assert(most_threads + 1 + most_locations == view_size);
constexpr std::size_t stack_size = 128 * 1024;
constexpr int most_looks = 32;

using stamp = std::int16_t;

/// What a thread, or who reads a message, knows: of each thread how far it has got (happens-before), of each location the oldest
/// message that may still be read.
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

/// Do they touch the same?
bool meet(access const& a, access const& b) noexcept {
  if (a.at >= 0) return b.touches(a.at);
  if (b.at >= 0) return a.touches(b.at);
  return false;
}

struct event {
  int thread = -1;
  int index = 0;  // of its thread's, from 1
  access done;
  std::array<stamp, most_threads> clock{};  // how many events of each thread come before it, in every equivalent execution
  // For the trace.
  action what = action::none;
  std::memory_order order{};
  where at{};
  detail::raw read = 0, wrote = 0;
  int newest = 0;  // message at the location
};

/// One decision: who goes on, and with what value.
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

bool acquires(std::memory_order o) noexcept {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst ||
         o == std::memory_order_consume;
}
bool releases(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

std::string_view base_name(char const* path) noexcept {
  std::string_view const p{path};
  auto const slash = p.rfind('/');
  return slash == p.npos ? p : p.substr(slash + 1);
}

}  // namespace

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
  /// Another thread's newer message with another value at where it looked; how many of its looks have one.
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

  std::vector<node> nodes_;  // the decisions of this execution, and what is left of them
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

namespace {
engine* running = nullptr;
}

// ---- Places.

char const* name(action a) noexcept {
  static constexpr std::array names{"load",
                                    "store",
                                    "exchange",
                                    "fetch_add",
                                    "fetch_sub",
                                    "fetch_or",
                                    "fetch_and",
                                    "fetch_xor",
                                    "compare_exchange",
                                    "compare_exchange (failure)",
                                    "fence",
                                    "light_fence",
                                    "heavy_fence",
                                    "relax",
                                    "wait",
                                    "woken",
                                    "wake",
                                    "choose",
                                    "none"};
  return names[static_cast<std::size_t>(a)];
}

char const* name(std::memory_order o) noexcept {
  switch (o) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

std::string site::text() const {
  std::string s{base_name(file)};
  s += ':' + std::to_string(line) + ' ' + name(what);
  if (what < action::fence) s += std::string{" "} + name(order);
  return s;
}

bool site::same(site const& o) const noexcept {
  return line == o.line && column == o.column && what == o.what && std::strcmp(file, o.file) == 0;
}

std::string weakening::text() const { return at.text() + (removed ? " removed" : std::string{" -> "} + name(to)); }

std::vector<weakening> weakenings(site const& s) {
  using enum std::memory_order;
  if (s.what == action::heavy_fence) return {{s, relaxed, true}};
  if (s.what == action::light_fence)
    return s.store_before == nullptr ? std::vector<weakening>{} : std::vector<weakening>{{s, relaxed, true}};
  if (s.what == action::fence) {
    if (s.order == seq_cst) return {{s, acq_rel, false}};
    return {{s, relaxed, true}};
  }
  bool const loads = s.what == action::load || s.what == action::failed_swap_if;
  switch (s.order) {
    case seq_cst:
      if (loads) return {{s, acquire, false}};
      if (s.what == action::store) return {{s, release, false}};
      return {{s, acq_rel, false}};
    case acq_rel: return {{s, acquire, false}, {s, release, false}};
    case acquire:
    case release: return {{s, relaxed, false}};
    default: return {};
  }
}

site* engine::note(action a, std::memory_order o, where const& at) {
  auto& bucket = by_place_[(at.line() * 31 + at.column() * 7 + static_cast<unsigned>(a)) % by_place_.size()];
  for (auto& [w, s] : bucket)
    if (w.line() == at.line() && w.column() == at.column() && s->what == a && w.file_name() == at.file_name()) return s;
  site const s{at.file_name(), at.line(), at.column(), a, o, at.function_name(), nullptr};
  for (site& known : sites_) {
    if (known.same(s)) {
      bucket.emplace_back(at, &known);
      return &known;
    }
  }
  sites_.push_back(s);
  bucket.emplace_back(at, &sites_.back());
  return &sites_.back();
}

std::memory_order engine::effective(action a, std::memory_order o, where const& at, bool& removed) {
  site* const s = note(a, o, at);
  if (a == action::store) me().last_store = s;
  if (a == action::light_fence && s->store_before == nullptr && me().last_store != nullptr)
    s->store_before = std::make_shared<site const>(*me().last_store);
  if (config_.weakened != nullptr && config_.weakened->at.same(*s)) {
    removed = config_.weakened->removed;
    return config_.weakened->to;
  }
  return o;
}

// ---- Who goes on.

int engine::news(thread_state const& t, int wanted, look* found) const noexcept {
  int n = 0;
  for (int i = 0; i < t.looked; ++i) {
    look const k = t.looks[static_cast<std::size_t>(i)];
    location const& l = locations_[static_cast<std::size_t>(k.location)];
    detail::raw const had = l.messages[static_cast<std::size_t>(k.message)].value;
    for (int m = std::max<int>(k.message + 1, t.now.location(k.location)); m <= l.newest(); ++m) {
      if (l.messages[static_cast<std::size_t>(m)].value == had) continue;
      if (n++ == wanted) *found = {k.location, m};
      break;
    }
  }
  return n;
}

bool engine::enabled(int t) const noexcept {
  thread_state const& s = threads_[static_cast<std::size_t>(t)];
  if (s.status == thread_state::done || s.status == thread_state::asleep) return false;
  if (s.next.what != access::await) return true;
  look unused;
  return news(s, -1, &unused) > 0;
}

namespace {
/// Does `e`, which has happened, keep `o` of another thread from being what it was before? at_least: only for newer messages.
enum class effect { none, newer, full };
/// Both have a place in the single total order, and it matters which comes first.
bool in_order(access const& a, access const& b) noexcept { return a.single && b.single && !(a.only_learns && b.only_learns); }

effect affects(access const& e, access const& o) noexcept {
  using enum access::kind;
  if (e.what == nothing || o.what == nothing) return effect::none;
  if (e.what == heavy || o.what == heavy) return effect::full;
  if (e.what == fence || o.what == fence) return in_order(e, o) ? effect::full : effect::none;
  if (!meet(e, o)) return effect::none;
  if (e.writes()) return o.what == load && !in_order(e, o) ? effect::newer : effect::full;
  if (e.is_load()) return in_order(e, o) ? effect::full : effect::none;
  if (e.what == sleep) return o.what == write || o.what == change || o.what == wake ? effect::full : effect::none;
  if (e.what == wake) return o.what == sleep || o.what == wake ? effect::full : effect::none;
  return effect::full;
}

struct relation {
  bool ordered;   // the later one may need the earlier one
  bool reversed;  // the other order is another execution, which the later one's choices do not contain
};
relation relate(access const& e, access const& n) noexcept {
  using enum access::kind;
  if (e.what == nothing || n.what == nothing) return {false, false};
  if (e.what == heavy || n.what == heavy) return {true, true};
  bool const single = in_order(e, n);
  if (e.what == fence || n.what == fence) return {single, single};
  if (!meet(e, n)) return {false, false};
  if (e.writes()) {
    if (n.writes() || n.what == sleep) return {true, true};
    if (n.what == wake) return {false, false};
    if (n.what == failed_change) return {n.read >= e.written || single, true};
    if (n.what == await) return {n.at == -1 && n.read == e.written && e.at == n.written, false};  // which message it waited for
    return {n.read >= e.written || single, single};
  }
  if (e.is_load()) {
    if (n.writes()) return {single, true};
    return {single, single};
  }
  if (e.what == sleep) return {n.writes() || n.what == wake, n.writes() || n.what == wake};
  if (e.what == wake) return {n.what == sleep || n.what == wake, n.what == sleep || n.what == wake};
  return {false, false};
}
}  // namespace

void engine::put_asleep(node& n, node const& before) {
  auto const candidates = static_cast<std::uint8_t>(before.asleep | before.done);
  for (int q = 0; q < thread_count_; ++q) {
    auto const i = static_cast<std::size_t>(q);
    if (q == before.e.thread) continue;
    n.at_least[i] = before.e.done.what == access::heavy ? stamp{0} : before.at_least[i];
    if ((candidates >> q & 1) == 0) continue;
    thread_state& t = threads_[i];
    if (t.next.what == access::load && t.next.single)
      t.next.only_learns = locations_[static_cast<std::size_t>(t.next.at)].newest() <= single_.location(t.next.at);
    if (t.next.what == access::fence)
      t.next.only_learns =
          t.now.knows_no_more_than(single_, used()) && (!t.has_later || t.later.knows_no_more_than(single_, used()));
    switch (affects(before.e.done, t.next)) {
      case effect::none: n.asleep = static_cast<std::uint8_t>(n.asleep | 1 << q); break;
      case effect::newer: n.at_least[i] = static_cast<stamp>(before.e.done.written); break;
      case effect::full: n.at_least[i] = 0; break;
    }
  }
}

/// The thread that goes on; -1: the execution ends.
int engine::decide() {
  std::uint8_t on = 0, alive = 0;
  for (int t = 0; t < thread_count_; ++t) {
    if (threads_[static_cast<std::size_t>(t)].status != thread_state::done) alive = static_cast<std::uint8_t>(alive | 1 << t);
    if (enabled(t)) on = static_cast<std::uint8_t>(on | 1 << t);
  }
  if (on == 0) {
    if (alive == 0) {
      ending_ = ending::finished;
    } else {
      record_failure("deadlock: every thread that has not ended waits");
    }
    return -1;
  }
  if (depth_ >= config_.most_steps) {
    record_failure("an endless loop: more than most_steps steps");
    return -1;
  }
  if (static_cast<std::size_t>(depth_) == nodes_.size()) {
    node n;
    n.enabled = on;
    if (depth_ > 0) {
      node const& last = nodes_.back();
      n.preemptions = last.preemptions;
      if (config_.preemptions < 0 && config_.replay.empty()) put_asleep(n, last);
    }
    auto const awake = static_cast<std::uint8_t>(on & ~n.asleep);
    if (awake == 0) {
      ending_ = ending::redundant;
      return -1;
    }
    int const last = depth_ > 0 ? nodes_.back().chosen : -1;
    bool const stays = last >= 0 && (awake >> last & 1) != 0;
    n.chosen = stays ? last : std::countr_zero(awake);
    n.todo = static_cast<std::uint8_t>(1 << n.chosen);
    if (config_.preemptions >= 0 && (!stays || n.preemptions < config_.preemptions)) n.todo = on;
    if (!config_.replay.empty()) {
      auto const d = static_cast<std::size_t>(depth_);
      if (d < replay_.size()) {
        n.chosen = replay_[d].first;
        n.value = replay_[d].second;
        if ((on >> n.chosen & 1) == 0) {
          record_failure("the choices to be replayed do not fit this program");
          return -1;
        }
      }
    }
    nodes_.push_back(n);
  } else if (nodes_[static_cast<std::size_t>(depth_)].enabled != on) {
    record_failure("the program is not the same each time: other threads can go on than in the execution before");
    return -1;
  }
  node& n = nodes_[static_cast<std::size_t>(depth_++)];
  if (config_.preemptions >= 0 && depth_ > 1) {
    node const& last = nodes_[static_cast<std::size_t>(depth_ - 2)];
    n.preemptions = last.preemptions + (n.chosen != last.chosen && (on >> last.chosen & 1) != 0 ? 1 : 0);
  }
  return n.chosen;
}

void engine::before(access const& a) {
  if (in_main()) return;
  int const caller = self_;
  threads_[static_cast<std::size_t>(caller)].next = a;
  int const next = decide();
  if (next < 0) leave();
  if (next != caller) {
    self_ = next;
    nopal::core::switch_to(threads_[static_cast<std::size_t>(caller)].context,
                           threads_[static_cast<std::size_t>(next)].context);
  }
  arrive();
}

/// The caller, whom whoever switched here has made self_, is the one that was chosen.
void engine::arrive() {
  node& n = nodes_[static_cast<std::size_t>(depth_ - 1)];
  thread_state& t = me();
  ++t.events;
  ++result_.steps;
  if (depth_ - 1 >= fresh_) {
    n.e.thread = self_;
    n.e.index = t.events;
    n.e.done = t.next;
  }
}

/// Any of n values for the event under way.
int engine::pick(int n) {
  if (in_main()) return 0;
  node& d = nodes_[static_cast<std::size_t>(depth_ - 1)];
  if (depth_ - 1 >= fresh_) d.values = n;
  if (d.value >= n) fail("the choices to be replayed do not fit this program");
  return d.value;
}

event& engine::after(action a, std::memory_order o, where const& at) {
  static event ignored;
  if (in_main()) return ignored = event{};
  int const index = depth_ - 1;
  event& e = nodes_[static_cast<std::size_t>(index)].e;
  e.what = a;
  e.order = o;
  e.at = at;
  e.newest = e.done.at >= 0 ? locations_[static_cast<std::size_t>(e.done.at)].newest() : 0;
  if (index >= fresh_) find_races(index);
  me().last_event = index;
  return e;
}

void engine::find_races(int index) {
  event& n = nodes_[static_cast<std::size_t>(index)].e;
  thread_state& t = me();
  auto const self = static_cast<std::size_t>(n.thread);
  n.clock = t.last_event >= 0 ? nodes_[static_cast<std::size_t>(t.last_event)].e.clock : std::array<stamp, most_threads>{};
  n.clock[self] = static_cast<stamp>(n.index);
  races_.clear();
  bool const reduce = config_.preemptions < 0;
  if (!reduce) return;
  for (int i = index - 1; i >= 0; --i) {
    event const& e = nodes_[static_cast<std::size_t>(i)].e;
    if (e.thread == n.thread) continue;
    if (n.clock[static_cast<std::size_t>(e.thread)] >= e.index) continue;
    if (n.what == action::woken) {  // only whoever woke it
      if (n.done.read == i)
        for (std::size_t k = 0; k < most_threads; ++k) n.clock[k] = std::max(n.clock[k], e.clock[k]);
      continue;
    }
    relation const r = relate(e.done, n.done);
    if (r.reversed) races_.push_back(i);
    if (r.ordered)
      for (std::size_t k = 0; k < most_threads; ++k) n.clock[k] = std::max(n.clock[k], e.clock[k]);
  }
  for (int const i : races_) add_backtrack(i, index);
}

void engine::add_backtrack(int earlier, int later) {
  node& d = nodes_[static_cast<std::size_t>(earlier)];
  event const& e = d.e;
  // Who could begin with what need not come after `earlier`, up to the later one of the race.
  std::uint8_t begun = 0, can = 0;
  kept_.clear();
  for (int i = earlier + 1; i <= later; ++i) {
    event const& f = nodes_[static_cast<std::size_t>(i)].e;
    if (i != later && f.clock[static_cast<std::size_t>(e.thread)] >= e.index) continue;
    if ((begun >> f.thread & 1) == 0) {
      begun = static_cast<std::uint8_t>(begun | 1 << f.thread);
      bool first = true;
      for (int const g : kept_) {
        event const& x = nodes_[static_cast<std::size_t>(g)].e;
        first = first && f.clock[static_cast<std::size_t>(x.thread)] < x.index;
      }
      if (first) can = static_cast<std::uint8_t>(can | 1 << f.thread);
    }
    kept_.push_back(i);
  }
  if ((can & d.todo) != 0) return;
  can &= d.enabled;
  if (can == 0) {
    d.todo |= d.enabled;
    return;
  }
  int const racer = nodes_[static_cast<std::size_t>(later)].e.thread;
  d.todo = static_cast<std::uint8_t>(d.todo | ((can >> racer & 1) != 0 ? 1 << racer : 1 << std::countr_zero(can)));
}

/// The next execution differs in the last decision that has something left. False: there is none.
bool engine::advance() {
  while (!nodes_.empty()) {
    node& n = nodes_.back();
    if (++n.value < n.values) break;
    n.value = 0;
    n.values = 1;
    n.done = static_cast<std::uint8_t>(n.done | 1 << n.chosen);
    auto const left = static_cast<std::uint8_t>(n.todo & ~n.done & ~n.asleep);
    if (left != 0) {
      n.chosen = std::countr_zero(left);
      break;
    }
    nodes_.pop_back();
  }
  fresh_ = static_cast<int>(nodes_.size()) - 1;
  return !nodes_.empty();
}

// ---- Memory.

detail::id engine::make_location(detail::raw initial, char const* kind) {
  if (locations_used_ == most_locations) {
    fail("more atomic objects than the explorer has room for");
    return 1;
  }
  if (locations_used_ == locations_.size()) locations_.emplace_back();
  location& l = locations_[locations_used_++];
  l.count = 0;
  l.kind = kind;
  // Fresh memory has no constructor: nobody can say when it became an object.
  bool const constructed = std::strcmp(kind, "word") != 0;
  l.creator = self_;
  l.created = constructed ? me().now.thread(self_) : stamp{0};
  message& m = l.push();
  m.value = initial;
  m.event = -1;
  m.carries = false;
  return locations_used_;
}

void engine::remember(int l, int m) {
  thread_state& t = me();
  if (in_main()) return;
  for (int i = 0; i < t.looked; ++i) {
    look& k = t.looks[static_cast<std::size_t>(i)];
    if (k.location == l) {
      k.message = m;
      return;
    }
  }
  if (t.looked == most_looks) {  // the oldest is surely not of this loop
    std::move(t.looks.begin() + 1, t.looks.end(), t.looks.begin());
    --t.looked;
  }
  t.looks[static_cast<std::size_t>(t.looked++)] = {l, m};
}

void engine::read_view(message const& m, std::memory_order o) {
  if (!m.carries) return;
  thread_state& t = me();
  if (acquires(o)) {
    t.now.join(m.seen, used());
  } else {
    if (!t.has_later) t.later = view{};
    t.has_later = true;
    t.later.join(m.seen, used());
  }
}

void engine::write_message(int l, detail::raw v, std::memory_order o, message const* continues) {
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  std::size_t const before = x.count - 1;
  message& m = x.push();
  int const ts = x.newest();
  t.now.location(l) = static_cast<stamp>(ts);
  m.value = v;
  m.event = in_main() ? -1 : depth_ - 1;
  m.carries = true;
  if (releases(o)) {
    m.seen = t.now;
  } else if (t.has_fenced) {
    m.seen = t.fenced;
    m.seen.location(l) = static_cast<stamp>(ts);
  } else {
    m.carries = false;
  }
  if (continues != nullptr) {
    message const& c = x.messages[before];  // push may have moved it
    if (c.carries) {
      if (m.carries) {
        m.seen.join(c.seen, used());
      } else {
        m.seen = c.seen;
        m.carries = true;
      }
    }
  }
}

detail::raw engine::load_now(int l, std::memory_order o, where const& at) {
  bool const single = o == std::memory_order_seq_cst;
  access a;
  a.what = access::load;
  a.single = single;
  a.at = l;
  before(a);
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  int low = t.now.location(l);
  if (single) low = std::max<int>(low, single_.location(l));
  if (!in_main())
    low = std::max<int>(low, nodes_[static_cast<std::size_t>(depth_ - 1)].at_least[static_cast<std::size_t>(self_)]);
  int const m = in_main() ? x.newest() : x.newest() - pick(x.newest() - low + 1);
  message const& read = x.messages[static_cast<std::size_t>(m)];
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(m));
  read_view(read, o);
  bool const only_learns = m <= single_.location(l);
  if (single) single_.location(l) = std::max(single_.location(l), static_cast<stamp>(m));
  remember(l, m);
  detail::raw const v = read.value;
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.read = m;
    done.only_learns = only_learns;
  }
  after(action::load, o, at).read = v;
  tick();
  return v;
}

detail::raw engine::load(int l, std::memory_order order, where const& at) {
  std::memory_order const o = effective(action::load, order, at);
  thread_state& t = me();
  if (t.delays && t.delayed_at == l) flush_delayed();
  detail::raw const v = load_now(l, o, at);
  flush_delayed();
  return v;
}

void engine::perform_store(int l, detail::raw v, std::memory_order o, where const& at) {
  access a;
  a.what = access::write;
  a.single = o == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  write_message(l, v, o, nullptr);
  int const ts = locations_[static_cast<std::size_t>(l)].newest();
  if (a.single) single_.location(l) = static_cast<stamp>(ts);
  if (!in_main() && depth_ - 1 >= fresh_) nodes_[static_cast<std::size_t>(depth_ - 1)].e.done.written = ts;
  after(action::store, o, at).wrote = v;
  tick();
}

void engine::store(int l, detail::raw v, std::memory_order order, where const& at) {
  flush_delayed();
  std::memory_order const o = effective(action::store, order, at);
  thread_state& t = me();
  if (config_.weakened != nullptr && config_.weakened->at.what == action::light_fence && !in_main() &&
      config_.weakened->at.store_before->same(*t.last_store)) {
    t.delays = true;
    t.delayed_at = l;
    t.delayed_value = v;
    t.delayed_order = o;
    t.delayed_where = at;
    return;
  }
  perform_store(l, v, o, at);
}

void engine::flush_delayed() {
  thread_state& t = me();
  if (!t.delays) return;
  t.delays = false;
  perform_store(t.delayed_at, t.delayed_value, t.delayed_order, t.delayed_where);
}

detail::raw engine::begin_change(int l, action what, std::memory_order order, where const& at) {
  flush_delayed();
  std::memory_order const o = effective(what, order, at);
  access a;
  a.what = access::change;
  a.single = o == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  location& x = locations_[static_cast<std::size_t>(l)];
  change_at_ = l;
  change_what_ = what;
  change_order_ = o;
  change_where_ = at;
  return change_read_ = x.messages[x.count - 1].value;
}

void engine::end_change(detail::raw v) {
  int const l = change_at_;
  location& x = locations_[static_cast<std::size_t>(l)];
  message const& read = x.messages[x.count - 1];
  int const m = x.newest();
  me().now.location(l) = static_cast<stamp>(m);
  read_view(read, change_order_);
  write_message(l, v, change_order_, &read);
  bool const single = change_order_ == std::memory_order_seq_cst;
  if (single) single_.location(l) = static_cast<stamp>(m + 1);
  remember(l, m);
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& a = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    a.read = m;
    a.written = m + 1;
  }
  event& e = after(change_what_, change_order_, change_where_);
  e.read = change_read_;
  e.wrote = v;
  tick();
}

bool engine::swap_if(int l, detail::raw& expected, detail::raw v, std::memory_order order, std::memory_order on_failure,
                     where const& at) {
  flush_delayed();
  std::memory_order const o = effective(action::swap_if, order, at);
  std::memory_order const f = effective(action::failed_swap_if, on_failure, at);
  access a;
  a.what = access::change;
  a.single = o == std::memory_order_seq_cst || f == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  // It changes the newest value, or fails by any that it may read and did not expect.
  int low = t.now.location(l);
  if (f == std::memory_order_seq_cst) low = std::max<int>(low, single_.location(l));
  int ways = 0;
  for (int m = x.newest(); m >= low; --m)
    if (m == x.newest() || x.messages[static_cast<std::size_t>(m)].value != expected) ++ways;
  int way = pick(ways);
  int m = x.newest();
  for (; way > 0; --way) {
    --m;
    while (x.messages[static_cast<std::size_t>(m)].value == expected) --m;
  }
  detail::raw const read = x.messages[static_cast<std::size_t>(m)].value;
  if (read == expected) {
    change_at_ = l;
    change_what_ = action::swap_if;
    change_order_ = o;
    change_where_ = at;
    change_read_ = read;
    end_change(v);
    return true;
  }
  message const& found = x.messages[static_cast<std::size_t>(m)];
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(m));
  read_view(found, f);
  bool const only_learns = m <= single_.location(l);
  if (f == std::memory_order_seq_cst) single_.location(l) = std::max(single_.location(l), static_cast<stamp>(m));
  remember(l, m);
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.what = access::failed_change;
    done.single = f == std::memory_order_seq_cst;
    done.only_learns = only_learns;
    done.read = m;
  }
  after(action::failed_swap_if, f, at).read = read;
  tick();
  expected = read;
  return false;
}

void engine::fence(std::memory_order order, where const& at) {
  flush_delayed();
  bool removed = false;
  std::memory_order const o = effective(action::fence, order, at, removed);
  if (removed) return;
  bool const single = o == std::memory_order_seq_cst;
  access a;
  a.what = access::fence;
  a.single = single;
  thread_state& t = me();
  before(a);
  if (acquires(o) && t.has_later) {
    t.now.join(t.later, used());
    t.has_later = false;
  }
  if (single) {
    bool const only_learns = t.now.knows_no_more_than(single_, used());
    if (!in_main() && depth_ - 1 >= fresh_) nodes_[static_cast<std::size_t>(depth_ - 1)].e.done.only_learns = only_learns;
    t.now.join_locations(single_, used());
    single_.join_locations(t.now, used());
  }
  if (releases(o)) {
    t.fenced = t.now;
    t.has_fenced = true;
  }
  after(action::fence, o, at);
  tick();
}

void engine::light_fence(where const& at) {
  bool removed = false;
  effective(action::light_fence, std::memory_order_seq_cst, at, removed);
}

void engine::heavy_fence(where const& at) {
  flush_delayed();
  bool removed = false;
  effective(action::heavy_fence, std::memory_order_seq_cst, at, removed);
  if (removed) return;
  access a;
  a.what = access::heavy;
  before(a);
  // A fence of the caller, one of each other thread, and another of the caller. Those of the others are not ordered among each other, and
  // give no happens-before: both allow more than the kernel does.
  thread_state& mine = me();
  mine.now.join_locations(single_, used());
  single_.join_locations(mine.now, used());
  view const first = single_;
  for (int q = 0; q < thread_count_; ++q) {
    if (q == self_) continue;
    thread_state& t = threads_[static_cast<std::size_t>(q)];
    t.now.join_locations(first, used());
    single_.join_locations(t.now, used());
  }
  mine.now.join_locations(single_, used());
  after(action::heavy_fence, std::memory_order_seq_cst, at);
  tick();
}

// ---- Waiting.

void engine::relax(where const& at) {
  if (in_main()) fail("setup and finally cannot wait");
  flush_delayed();
  thread_state& t = me();
  if (++t.spins > config_.spins) {
    ending_ = ending::cut;
    leave();
  }
  access a;
  a.what = access::await;
  for (int i = 0; i < t.looked; ++i) {
    auto const l = static_cast<std::size_t>(t.looks[static_cast<std::size_t>(i)].location);
    a.many[l / 64] |= std::uint64_t{1} << (l % 64);
  }
  before(a);
  look unused{}, seen{};
  int const n = news(t, -1, &unused);
  news(t, pick(n), &seen);
  t.now.location(seen.location) = std::max(t.now.location(seen.location), static_cast<stamp>(seen.message));
  t.looked = 0;
  if (depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.read = seen.message;
    done.written = seen.location;  // see relate
  }
  after(action::relax, std::memory_order_relaxed, at);
}

void engine::wait(int l, detail::raw expected, where const& at) {
  if (in_main()) fail("setup and finally cannot wait");
  flush_delayed();
  access a;
  a.what = access::sleep;
  a.at = l;
  before(a);
  location const& x = locations_[static_cast<std::size_t>(l)];
  detail::raw const v = x.messages[x.count - 1].value;
  thread_state& t = me();
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(x.newest()));
  after(action::wait, std::memory_order_relaxed, at).read = v;
  tick();
  if (v != expected) return;
  t.status = thread_state::asleep;
  t.sleeps_at = l;
  before(access{});
  t.status = thread_state::ready;
  after(action::woken, std::memory_order_relaxed, at);
}

void engine::wake(int l, bool all, where const& at) {
  flush_delayed();
  if (in_main()) return;
  access a;
  a.what = access::wake;
  a.at = l;
  before(a);
  std::array<int, most_threads> sleepers{};
  int n = 0;
  for (int q = 0; q < thread_count_; ++q) {
    thread_state const& t = threads_[static_cast<std::size_t>(q)];
    if (t.status == thread_state::asleep && t.sleeps_at == l) sleepers[static_cast<std::size_t>(n++)] = q;
  }
  int const first = all || n == 0 ? 0 : pick(n);
  int const last = all ? n : std::min(n, first + 1);
  for (int i = first; i < last; ++i) {
    thread_state& t = threads_[static_cast<std::size_t>(sleepers[static_cast<std::size_t>(i)])];
    t.status = thread_state::woken;
    t.next = access{};
    t.next.read = depth_ - 1;  // who woke it
  }
  after(action::wake, std::memory_order_relaxed, at).wrote = static_cast<detail::raw>(last - first);
  tick();
}

int engine::choose(int n, where const& at) {
  if (in_main()) {
    fail("setup and finally cannot choose");
    return 0;
  }
  flush_delayed();
  before(access{});
  int const v = pick(n);
  after(action::choose, std::memory_order_relaxed, at).read = static_cast<detail::raw>(v);
  return v;
}

// ---- Plain data.

void engine::plain(detail::history& h, bool writes, char const* name, where const& at) {
  view& seen = me().now;
  bool race = h.writer >= 0 && seen.thread(h.writer) < h.written;
  if (writes)
    for (int q = 0; q <= most_threads && !race; ++q) race = seen.thread(q) < h.reads[static_cast<std::size_t>(q)];
  if (race) {
    // The stack is never unwound: the text must be gone from it by then.
    record_failure(std::string{"a race on "} + name + ", " + (writes ? "written" : "read") + " at " +
                   std::string{base_name(at.file_name())} + ':' + std::to_string(at.line()) +
                   "; another thread's access does not happen before (last written at " +
                   std::string{base_name(h.at.file_name())} + ':' + std::to_string(h.at.line()) + ')');
    if (!in_main()) leave();
    return;
  }
  if (writes) {
    h.writer = static_cast<std::int8_t>(self_);
    h.written = seen.thread(self_);
    h.reads = {};
    h.at = at;
  } else {
    h.reads[static_cast<std::size_t>(self_)] = seen.thread(self_);
  }
}

// ---- Executions.

void engine::fail(std::string what) {
  record_failure(std::move(what));
  if (!in_main()) leave();
}

void engine::begin_thread(nopal::core::context&) noexcept {
  engine& e = *running;
  e.arrive();
  e.after(action::none, std::memory_order_relaxed, where{});
  (*e.me().body)();
  e.flush_delayed();
  e.me().status = thread_state::done;
  int const next = e.decide();
  if (next < 0) e.leave();
  thread_state& mine = e.me();
  e.self_ = next;
  nopal::core::switch_to(mine.context, e.me().context);
  std::abort();
}

void engine::reset() {
  self_ = main_thread;
  locations_used_ = 0;
  single_ = view{};
  depth_ = 0;
  ending_ = ending::none;
  for (thread_state& t : threads_) {
    t.status = thread_state::ready;
    t.now = view{};
    t.has_later = t.has_fenced = t.delays = false;
    t.next = access{};
    t.looked = t.spins = t.events = 0;
    t.last_event = t.sleeps_at = -1;
    t.clock = 0;
    t.last_store = nullptr;
  }
  for (int q = 0; q <= most_threads; ++q) threads_[static_cast<std::size_t>(q)].now.thread(q) = 1;
}

result engine::run(std::function<void(program&)> const& p) {
  running = this;
  for (;;) {
    reset();
    program now;
    p(now);
    thread_count_ = static_cast<int>(now.threads_.size());
    if (thread_count_ > most_threads) record_failure("more threads than most_threads");
    thread_state& main = threads_[main_thread];
    if (ending_ == ending::none) {
      for (int q = 0; q < thread_count_; ++q) {
        thread_state& t = threads_[static_cast<std::size_t>(q)];
        t.body = &now.threads_[static_cast<std::size_t>(q)];
        t.now.join(main.now, used());
        std::byte* const bottom = t.stack.get();
#if NOPAL_ASAN
        ASAN_UNPOISON_MEMORY_REGION(bottom, stack_size);
#endif
        nopal::core::prepare(t.context, bottom, bottom + stack_size, begin_thread);
      }
      ++main.now.thread(main_thread);
      if (int const first = decide(); first >= 0) {
        self_ = first;
        nopal::core::switch_to(home_, threads_[static_cast<std::size_t>(first)].context);
        self_ = main_thread;
      }
      for (int q = 0; q < thread_count_; ++q) nopal::core::forget(threads_[static_cast<std::size_t>(q)].context);
    }
    result_.deepest = std::max(result_.deepest, depth_);
    if (ending_ == ending::finished) {
      ++result_.executions;
      for (int q = 0; q < thread_count_; ++q) main.now.join(threads_[static_cast<std::size_t>(q)].now, used());
      if (now.last_) now.last_();
    }
    if (ending_ == ending::redundant) ++result_.redundant;
    if (ending_ == ending::cut) ++result_.cut;
    if (ending_ == ending::failure) {
      result_.failure = failure_;
      result_.trace = trace();
      result_.choices = choices();
      break;
    }
    if (!config_.replay.empty()) break;
    if (!advance()) {
      result_.complete = result_.cut == 0 && config_.preemptions < 0;
      break;
    }
    if (result_.executions + result_.redundant + result_.cut >= config_.most_executions) break;
  }
  running = nullptr;
  result_.sites.assign(sites_.begin(), sites_.end());
  return std::move(result_);
}

std::string engine::show(location const& l, detail::raw v) const {
  std::string_view const kind{l.kind};
  std::ostringstream out;
  if (kind == "bool") {
    out << (v != 0 ? "true" : "false");
  } else if (kind == "pointer" || v > (detail::raw{1} << 48)) {
    if (kind == "signed") {
      out << static_cast<std::int64_t>(v);
    } else {
      out << std::hex << "0x" << v;
    }
  } else {
    out << v;
  }
  return out.str();
}

std::string engine::trace() const {
  std::ostringstream out;
  for (int i = 0; i < depth_ && i < static_cast<int>(nodes_.size()); ++i) {
    event const& e = nodes_[static_cast<std::size_t>(i)].e;
    if (e.what == action::none) continue;
    out << "  " << i << "\tthread " << e.thread << "  " << name(e.what);
    if (e.what < action::fence) out << ' ' << name(e.order);
    if (e.done.at >= 0) {
      location const& l = locations_[static_cast<std::size_t>(e.done.at)];
      out << " #" << e.done.at;
      bool const writes = e.done.writes();
      if (e.what != action::store && e.what != action::wake) {
        out << " reads " << show(l, e.read);
        if (e.done.read >= 0 && e.done.read < e.newest - (writes ? 1 : 0))
          out << " (stale by " << e.newest - e.done.read << ')';
      }
      if (writes) out << " writes " << show(l, e.wrote);
      if (e.what == action::wake) out << " wakes " << e.wrote;
    }
    if (e.what == action::choose) out << ' ' << e.read;
    out << "\t" << base_name(e.at.file_name()) << ':' << e.at.line() << '\n';
  }
  return out.str();
}

std::string engine::choices() const {
  std::ostringstream out;
  for (int i = 0; i < depth_ && i < static_cast<int>(nodes_.size()); ++i) {
    node const& n = nodes_[static_cast<std::size_t>(i)];
    out << (i == 0 ? "" : " ") << n.chosen;
    if (n.value != 0) out << '.' << n.value;
  }
  return out.str();
}

std::string result::report() const {
  std::ostringstream out;
  out << executions << " executions, " << redundant << " redundant, " << cut << " cut, " << steps << " steps, " << deepest
      << " at most; " << (complete ? "complete" : "bounded");
  if (!ok()) out << "\nFAILED: " << failure << '\n' << trace << "choices: " << choices;
  return out.str();
}

result explore(config const& c, std::function<void(program&)> const& p) { return engine{c}.run(p); }

void check(bool ok, char const* what) { running->check(ok, what); }
int choose(int n, where at) { return running->choose(n, at); }
int self() noexcept { return running->self(); }
moment here() noexcept { return running->here(); }
bool happens_before(moment m) noexcept { return running->happens_before(m); }

namespace detail {
id make_location(raw initial, char const* kind) noexcept { return running->make_location(initial, kind); }
raw load(id& l, std::memory_order o, where const& at) noexcept { return running->load(running->number(l), o, at); }
void store(id& l, raw v, std::memory_order o, where const& at) noexcept { running->store(running->number(l), v, o, at); }
raw begin_change(id& l, action a, std::memory_order o, where const& at) noexcept {
  return running->begin_change(running->number(l), a, o, at);
}
void end_change(raw v) noexcept { running->end_change(v); }
bool swap_if(id& l, raw& expected, raw v, std::memory_order o, std::memory_order failed, where const& at) noexcept {
  return running->swap_if(running->number(l), expected, v, o, failed, at);
}
void fence(std::memory_order o, where const& at) noexcept { running->fence(o, at); }
void light_fence(where const& at) noexcept { running->light_fence(at); }
void heavy_fence(where const& at) noexcept { running->heavy_fence(at); }
void relax(where const& at) noexcept { running->relax(at); }
void wait(id& l, raw expected, where const& at) noexcept { running->wait(running->number(l), expected, at); }
void wake(id& l, bool all, where const& at) noexcept { running->wake(running->number(l), all, at); }
std::int64_t now() noexcept { return running->now(); }
void plain_read(history& h, char const* what, where const& at) noexcept { running->plain(h, false, what, at); }
void plain_write(history& h, char const* what, where const& at) noexcept { running->plain(h, true, what, at); }
}  // namespace detail

}  // namespace model
