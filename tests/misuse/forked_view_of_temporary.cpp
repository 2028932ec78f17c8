// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
#include <nopal/nopal.hpp>
#include <string>
#include <string_view>

nopal::task<> child(std::string_view s) {
  (void)s;
  co_return;
}
nopal::task<> parent() {
  co_await nopal::fork(child, std::string(100, 'x'));
  co_await nopal::join;
}
