// expect: nopal: the parameters of this callable cannot be seen, because it is overloaded or a template.
#include <nopal/nopal.hpp>

struct overloaded {
  nopal::task<> operator()(int) const { co_return; }
  nopal::task<> operator()(char const*) const { co_return; }
};
nopal::task<> parent() {
  overloaded const f;
  co_await nopal::fork(f, 1);
  co_await nopal::join;
}
