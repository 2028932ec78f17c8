// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
#include <initializer_list>
#include <nopal/nopal.hpp>

std::initializer_list<int> list();
nopal::task<> child(std::initializer_list<int> all);

nopal::task<> parent() {
  co_await nopal::fork(child, list());
  co_await nopal::join;
}
