#include "observe/observers.hpp"
#include "nopal/core/observe/measured.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/event_source.hpp"
#include "scheduler/option_checks.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Several observers.

observer::~observer() = default;

namespace {

class several final : public observer {
 public:
  explicit several(std::vector<std::unique_ptr<observer>> all) : all_{std::move(all)} {}

  effects has() const noexcept override {
    effects sum;
    for (auto const& o : all_) {
      effects const its = o->has();
      sum.takes_turns = sum.takes_turns || its.takes_turns;
      sum.has_own_clock = sum.has_own_clock || its.has_own_clock;
      sum.counts_jobs = sum.counts_jobs || its.counts_jobs;
    }
    return sum;
  }
  observer* find(void const* kind) noexcept override {
    for (auto const& o : all_) {
      if (observer* const found = o->find(kind); found != nullptr) return found;
    }
    return nullptr;
  }

  void thread_begins(unsigned i) noexcept override { tell(&observer::thread_begins, i); }
  void thread_ends(unsigned i) noexcept override { tell(&observer::thread_ends, i); }
  bool needs_timer() const noexcept override {
    return std::ranges::any_of(all_, [](auto const& o) { return o->needs_timer(); });
  }
  void timer_begins() noexcept override { tell(&observer::timer_begins); }
  void timer_ends() noexcept override { tell(&observer::timer_ends); }
  void pool_ends() noexcept override { tell(&observer::pool_ends); }
  void pool_has_ended() noexcept override { tell(&observer::pool_has_ended); }
  void pool_begins_again() override { tell(&observer::pool_begins_again); }
  void process_ends() noexcept override { tell(&observer::process_ends); }
  std::uint64_t lost_turns() const noexcept override {
    std::uint64_t sum = 0;
    for (auto const& o : all_) sum += o->lost_turns();
    return sum;
  }

  void comes(brought what, worker* by) noexcept override { tell(&observer::comes, what, by); }
  void settle() noexcept override { tell(&observer::settle); }
  bool at_rest() const noexcept override {
    return std::ranges::all_of(all_, [](auto const& o) { return o->at_rest(); });
  }
  void job_comes() noexcept override { tell(&observer::job_comes); }
  void something_new() noexcept override { tell(&observer::something_new); }

  void job_begins(unsigned i) noexcept override { tell(&observer::job_begins, i); }
  void job_ends(unsigned i) noexcept override { tell(&observer::job_ends, i); }
  void strand_begins(worker& w, strand_kind what, void const* code, void const* object) noexcept override {
    tell(&observer::strand_begins, w, what, code, object);
  }
  void strand_leaves(worker& w, waits_for const& why) noexcept override { tell(&observer::strand_leaves, w, why); }
  void strand_resumes(worker& w, stack const& s, waits_for const* why) noexcept override { tell(&observer::strand_resumes, w, s, why); }
  void waits_on_top(worker& w, stack const& s, waits_for const& why) noexcept override { tell(&observer::waits_on_top, w, s, why); }
  void waited_on_top(worker& w, stack const& s, waits_for const& why) noexcept override { tell(&observer::waited_on_top, w, s, why); }
  void task_waits(worker& w, frame const* task) noexcept override { tell(&observer::task_waits, w, task); }
  void task_resumes(worker& w, frame const* task) noexcept override { tell(&observer::task_resumes, w, task); }
  void runs_none(worker& w) noexcept override { tell(&observer::runs_none, w); }

  bool offered(unsigned i) noexcept override { return ask(&observer::offered, i); }
  void polled(unsigned i) noexcept override { tell(&observer::polled, i); }
  void searches(unsigned i, bool does) noexcept override { tell(&observer::searches, i, does); }
  void tries(unsigned i, unsigned v) noexcept override { tell(&observer::tries, i, v); }
  void took(worker& w, worker const& v) noexcept override { tell(&observer::took, w, v); }
  unsigned victim(unsigned i) noexcept override {
    unsigned first = no_worker;
    for (auto const& o : all_) {
      if (unsigned const v = o->victim(i); first == no_worker) first = v;
    }
    return first;
  }
  void found_nothing(unsigned i) noexcept override { tell(&observer::found_nothing, i); }
  bool pauses(unsigned i, std::uint64_t n) noexcept override { return ask(&observer::pauses, i, n); }
  void sleeps(worker& w) noexcept override { tell(&observer::sleeps, w); }
  void wakes(worker& w, bool slept) noexcept override { tell(&observer::wakes, w, slept); }
  void naps(worker& w) noexcept override { tell(&observer::naps, w); }
  void napped(worker& w) noexcept override { tell(&observer::napped, w); }

  void may_come_later(unsigned i, stack const* left) noexcept override { tell(&observer::may_come_later, i, left); }
  void must_come_in_order(unsigned i) noexcept override { tell(&observer::must_come_in_order, i); }
  void makes_way(unsigned i) noexcept override { tell(&observer::makes_way, i); }

 private:
  template <class F, class... P>
  void tell(F f, P&&... p) {
    for (auto const& o : all_) ((*o).*f)(p...);
  }
  /// Calls all, and returns true if one of them does.
  template <class F, class... P>
  bool ask(F f, P&&... p) {
    bool any = false;
    for (auto const& o : all_) any = ((*o).*f)(p...) || any;
    return any;
  }

  std::vector<std::unique_ptr<observer>> const all_;
};

template <class Make>
struct named {
  Make* make;
  named* next;
};
// The newest first; they stay until the process ends.
template <class Make>
constinit std::atomic<named<Make>*> all_named{nullptr};

template <class Make>
void add_to_all(Make* make) {
  auto* const mine = new named<Make>{make, all_named<Make>.load(std::memory_order_relaxed)};  // relaxed: the exchange checks it
  // release: pairs with the acquire in for_all_named. relaxed: as above.
  while (!all_named<Make>.compare_exchange_weak(mine->next, mine, std::memory_order_release, std::memory_order_relaxed)) {
  }
}
// Calls f(make) for each, until it returns true.
template <class Make, class F>
void for_all_named(F f) {
  // acquire: pairs with the release in add_to_all
  for (named<Make> const* n = all_named<Make>.load(std::memory_order_acquire); n != nullptr; n = n->next) {
    if (f(n->make)) return;
  }
}

using makes_observer = std::unique_ptr<observer>(pool_state&);
using makes_events = std::shared_ptr<event_source>();

}  // namespace

void observe_new_pools(std::unique_ptr<observer> (*make)(pool_state&)) { add_to_all<makes_observer>(make); }
void bring_events_to_new_pools(std::shared_ptr<event_source> (*make)()) { add_to_all<makes_events>(make); }

void add_named_observers(std::vector<std::unique_ptr<observer>>& these, pool_state& pool) {
  for_all_named<makes_observer>([&](makes_observer* make) {
    if (std::unique_ptr<observer> o = make(pool); o != nullptr) these.push_back(std::move(o));
    return false;
  });
}

std::shared_ptr<event_source> named_events() {
  std::shared_ptr<event_source> first;
  for_all_named<makes_events>([&](makes_events* make) { return (first = make()) != nullptr; });
  return first;
}

std::unique_ptr<observer> as_one(std::vector<std::unique_ptr<observer>> these) {
  if (these.empty()) return nullptr;
  if (these.size() == 1) return std::move(these.front());
  return std::make_unique<several>(std::move(these));
}

// ---- The companions' parts.

attachment::~attachment() = default;

static void require(std::string_view companion_name, bool asked, std::string const& option) {
  if (!asked || std::ranges::any_of(companions(), [&](companion const* c) { return c->name == companion_name; })) return;
  reject(option + " needs nopal's companion " + std::string{companion_name} + ", and this program is linked without it; link nopal::nopal");
}

attachments::attachments(pool_options const& o) : events_{o.experimental.events} {
  require("simulation", !o.experimental.simulate.empty(), "simulate = \"" + o.experimental.simulate + "\"");
  require("simulation", o.experimental.schedule != schedule::free, "a schedule that is not free");
  require("trace", !o.trace.empty(), "trace = \"" + o.trace + "\"");
  for (companion const* const c : companions()) {
    if (c->attach == nullptr) continue;
    std::unique_ptr<attachment> one = c->attach(o);
    if (one == nullptr) continue;
    if (!machine_) machine_ = one->machine();
    if (events_ == nullptr) events_ = one->events();
    all_.push_back(std::move(one));
  }
  if (machine_ && events_ != nullptr) {
    reject(
        "a simulated machine and an event source, of which a companion brings one: events do not come in the machine's time; switch one "
        "off");
  }
  if (!machine_ && events_ == nullptr) events_ = named_events();
}

std::unique_ptr<observer> attachments::make(pool_site const& site) const {
  std::vector<std::unique_ptr<observer>> all;
  for (auto const& one : all_) {
    if (auto its = one->watch(site); its != nullptr) all.push_back(std::move(its));
  }
  add_named_observers(all, site.pool);
  return as_one(std::move(all));
}

// ---- What is measured.

// Of threads that work for no pool. They are on their own stacks, which no other thread ever resumes: so a compiler may keep the address.
static constinit thread_local measured_words outside{};

measured_words& measured_here() noexcept {
  stack* const here = state_here()->here;
  return here != nullptr ? here->measured : outside;
}

}  // namespace nopal::core
