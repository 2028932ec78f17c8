// expect: nopal: this function returns nopal::task<>, so there is no result for a slot.
#include <nopal/nopal.hpp>

nopal::task<> child();
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child);
  co_await nopal::join;
}
