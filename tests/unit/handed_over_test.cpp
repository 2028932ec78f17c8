// Once a fork has offered its parent, another worker may run that parent: so the child's arguments must not be in the parent's memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

/// Notes with each move whether it was out of the parent's frame, the last move in the lowest bit.
class traveller {
 public:
  traveller(std::string name, char const& in_parents_frame) : name_{std::move(name)}, parent_{&in_parents_frame} {}
  traveller(traveller&& o) noexcept : name_{std::move(o.name_)}, parent_{o.parent_}, moves_{o.moves_ + 1}, near_{o.near_ * 2} {
    auto const distance = reinterpret_cast<std::intptr_t>(&o) - reinterpret_cast<std::intptr_t>(parent_);
    if (distance > -largest_frame && distance < largest_frame) ++near_;
  }
  traveller(traveller const&) = delete;
  traveller& operator=(traveller const&) = delete;
  ~traveller() = default;

  /// The last two moves are after the offer: into the child's parameter, and from there into its frame.
  bool kept_off_the_parent() const { return moves_ >= 2 && (near_ & 3) == 0; }
  bool began_in_the_parent() const { return near_ != 0; }

 private:
  static constexpr std::intptr_t largest_frame = 16384;
  std::string name_;
  char const* parent_;
  int moves_ = 0;
  unsigned near_ = 0;
};

struct seen {
  int children = 0;
  int kept_off = 0;
  int began_in = 0;
  void operator()(traveller const& t) {
    ++children;
    kept_off += t.kept_off_the_parent() ? 1 : 0;
    began_in += t.began_in_the_parent() ? 1 : 0;
  }
};

nopal::task<> child(traveller t, std::unique_ptr<int>, int, seen* s) {
  (*s)(t);
  co_return;
}
nopal::task<int> child_with_result(traveller t, std::vector<int> v, seen* s) {
  (*s)(t);
  co_return static_cast<int>(v.size());
}

constexpr int times = 10;

nopal::task<> parent(seen* s) {
  char here = 'x';
  for (int i = 0; i < times; ++i)
    co_await nopal::fork(child, traveller{"a name that is too long to be kept in place", here}, std::make_unique<int>(i), i, s);
  int size = 0;
  for (int i = 0; i < times; ++i) {
    co_await nopal::fork(&size, child_with_result, traveller{"another name that is too long to be kept in place", here},
                         std::vector<int>(7), s);
    co_await nopal::join;
    EXPECT_EQ(size, 7);
  }
  if (here != 'x') ++s->kept_off;  // so that it lives in the frame
}

TEST(what_a_fork_hands_over, lies_not_in_the_parents_frame) {
  nopal::pool p{{.workers = 1}};
  seen s;
  p.submit(parent, &s).get();
  EXPECT_EQ(s.children, 2 * times);
  EXPECT_EQ(s.kept_off, 2 * times);
  EXPECT_EQ(s.began_in, 2 * times);  // else the test looks at the wrong places
}

}  // namespace
