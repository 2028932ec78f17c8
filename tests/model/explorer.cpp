#include "explorer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "engine.hpp"

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace model {

namespace {
engine* running = nullptr;
}

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
