// expect: nopal::fork: the object is given through a pointer that is a temporary, which dies before the child does.
#include <memory>
#include <nopal/nopal.hpp>

struct object {
  nopal::task<> method() { co_return; }
};

nopal::task<> parent() {
  co_await nopal::fork(&object::method, std::make_unique<object>());
  co_await nopal::join;
}
