// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
#include <nopal/nopal.hpp>
#include <string>
#include <string_view>

nopal::task<int> child(std::string_view s) { co_return static_cast<int>(s.size()); }
nopal::task<> parent() {
  int n = 0;
  co_await nopal::fork(&n, child, std::string(100, 'x'));
  co_await nopal::join;
}
