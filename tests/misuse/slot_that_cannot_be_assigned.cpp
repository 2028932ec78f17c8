// expect: nopal: this function's result cannot be assigned to the slot. Let the slot be a nopal::eventually<T>.
#include <nopal/nopal.hpp>
#include <string>

struct unassignable {
  std::string const text;
};
nopal::task<unassignable> child(int n);

nopal::task<> parent() {
  unassignable slot{"never written"};
  co_await nopal::fork(&slot, child, 1);
  co_await nopal::join;
}
