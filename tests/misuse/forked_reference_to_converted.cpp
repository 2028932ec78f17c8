// expect: nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does.
#include <nopal/nopal.hpp>
#include <string>

nopal::task<> child(std::string const& s) {
  (void)s;
  co_return;
}
nopal::task<> parent() {
  char const* const text = "it would be converted to a temporary std::string";
  co_await nopal::fork(child, text);
  co_await nopal::join;
}
