// Contexts: leaves a native stack and resumes it, on the same thread and on another.

#include "nopal/core/stack/context.hpp"

#include <gtest/gtest.h>
#include <unwind.h>

#include <cfenv>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using nopal::core::after_switch;
using nopal::core::context;
using nopal::core::leaving;
using nopal::core::switch_to;

/// A fresh stack that runs `body` until it calls done(); go() switches to it on any thread.
class side : context {
 public:
  explicit side(std::function<void(side&)> what) : body_{std::move(what)} {
    prepare(*this, memory_.get(), memory_.get() + bytes, [](context& c) {
      auto& self = static_cast<side&>(c);
      self.body_(self);
      self.finished_ = true;
      switch_to(self, *self.caller_, nullptr, leaving::for_good);
    });
  }
  ~side() { forget(*this); }
  side(side const&) = delete;
  side& operator=(side const&) = delete;

  void go(after_switch* a = nullptr) {
    context here;
    caller_ = &here;
    switch_to(here, *this, a);
  }
  /// Called by `body`.
  void back(after_switch* a = nullptr) { switch_to(*this, *caller_, a); }
  bool finished() const { return finished_; }
  bool holds(void const* p) const { return p >= memory_.get() && p < memory_.get() + bytes; }

 private:
  static constexpr std::size_t bytes = 256 * 1024;
  struct deleter {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, deleter> memory_{static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}))};
  std::function<void(side&)> body_;
  context* caller_ = nullptr;
  bool finished_ = false;
};

TEST(context, runs_on_the_stack_it_was_given) {
  bool inside = false;
  side s{[&](side& self) {
    int here = 0;
    inside = self.holds(__builtin_frame_address(0)) && here == 0;
  }};
  s.go();
  EXPECT_TRUE(inside);
  EXPECT_TRUE(s.finished());
}

TEST(context, keeps_its_variables_over_many_switches) {
  long const turns = 100'000;
  long sum = 0;
  side s{[&](side& self) {
    double x = 0.5;
    for (long k = 0; k < turns; ++k) {
      sum += k;
      x = x * 0.5 + 0.25;
      self.back();
    }
    if (x != 0.5) sum = -1;
  }};
  double y = 1;
  long mine = 0;
  for (long k = 0; k < turns; ++k) {
    s.go();
    mine += k;
    y = -y;
    ASSERT_EQ(sum, mine);
  }
  s.go();
  EXPECT_TRUE(s.finished());
  EXPECT_EQ(y, 1);
}

TEST(context, an_arrival_runs_first_and_on_the_stack_arrived_at) {
  struct look : after_switch {
    side* s = nullptr;
    bool there = false;
    int order = 0;
  };
  look to, from;
  auto const run = [](after_switch& a) noexcept {
    auto& self = static_cast<look&>(a);
    self.there = self.s->holds(__builtin_frame_address(0));
    ++self.order;
  };
  to.run = from.run = run;
  int order_seen = 0;
  side s{[&](side& self) {
    order_seen = to.order;
    self.back(&from);
    order_seen = to.order;
  }};
  to.s = from.s = &s;
  s.go(&to);
  EXPECT_EQ(order_seen, 1);
  EXPECT_TRUE(to.there);
  EXPECT_EQ(from.order, 1);
  EXPECT_FALSE(from.there);
  s.go(&to);
  EXPECT_EQ(order_seen, 2);
}

TEST(context, the_rounding_mode_stays_with_its_stack) {
  int first = -1, second = -1;
  side s{[&](side& self) {
    first = std::fegetround();
    std::fesetround(FE_UPWARD);
    self.back();
    second = std::fegetround();
  }};
  s.go();
  EXPECT_EQ(first, FE_TONEAREST);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  std::fesetround(FE_DOWNWARD);
  s.go();
  EXPECT_EQ(second, FE_UPWARD);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
}

TEST(context, exceptions_are_thrown_and_caught_within) {
  std::string what;
  side s{[&](side& self) {
    try {
      self.back();
      throw std::runtime_error{"inside"};
    } catch (std::exception const& e) {
      what = e.what();
    }
  }};
  s.go();
  try {
    throw std::runtime_error{"outside"};
  } catch (std::exception const&) {
    s.go();  // its handler begins and ends while ours is active
    EXPECT_EQ(what, "inside");
    try {
      throw;
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "outside");
    }
  }
}

TEST(context, handlers_that_overlap_rethrow_their_own) {
  std::string inner;
  side s{[&](side& self) {
    try {
      throw std::runtime_error{"inside"};
    } catch (...) {
      self.back();  // left within the handler
      try {
        throw;
      } catch (std::exception const& e) {
        inner = e.what();
      }
    }
  }};
  s.go();
  EXPECT_EQ(std::current_exception(), nullptr);
  try {
    throw std::runtime_error{"outside"};
  } catch (...) {
    std::thread{[&] { s.go(); }}.join();  // continues, and rethrows, on another thread
    try {
      throw;
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "outside");
    }
  }
  EXPECT_EQ(inner, "inside");
}

TEST(context, uncaught_exceptions_are_counted_by_stack) {
  int within = -1;
  side s{[&](side& self) {
    within = std::uncaught_exceptions();
    self.back();
  }};
  struct switches_while_unwinding {
    side& s;
    int& before;
    ~switches_while_unwinding() {
      before = std::uncaught_exceptions();
      s.go();
      if (std::uncaught_exceptions() != before) before = -1;
    }
  };
  int before = 0;
  try {
    switches_while_unwinding const guard{s, before};
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(before, 1);
  EXPECT_EQ(within, 0);
  s.go();
}

TEST(context, goes_on_on_any_thread) {
  std::vector<std::thread::id> seen;
  side s{[&](side& self) {
    for (int k = 0; k < 20; ++k) {
      seen.push_back(std::this_thread::get_id());
      self.back();
    }
  }};
  for (int k = 0; k < 20; ++k) {
    std::thread t{[&] { s.go(); }};
    auto const id = t.get_id();
    t.join();
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(k) + 1);
    ASSERT_EQ(seen.back(), id);
  }
  s.go();
  EXPECT_TRUE(s.finished());
}

TEST(context, a_backtrace_ends_at_the_base) {
  struct trace {
    int frames = 0;
    _Unwind_Reason_Code how = _URC_NO_REASON;
  } t;
  side s{[&](side&) {
    t.how = _Unwind_Backtrace(
        [](_Unwind_Context*, void* p) { return ++static_cast<trace*>(p)->frames < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP; }, &t);
  }};
  s.go();
  EXPECT_EQ(t.how, _URC_END_OF_STACK);
  EXPECT_GE(t.frames, 2);
  EXPECT_LT(t.frames, 20);
}

}  // namespace
