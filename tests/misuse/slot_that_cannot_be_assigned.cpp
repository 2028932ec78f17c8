// expect: nopal: the slot must be a T* or a nopal::eventually<T>* for a function that returns nopal::task<T>. A std::optional<T>* will do too; where T cannot be assigned, only these two.
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
