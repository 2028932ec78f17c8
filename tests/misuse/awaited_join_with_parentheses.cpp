// expect: nopal: join is not a function. Write co_await nopal::join, without parentheses.
#include <nopal/nopal.hpp>

nopal::task<> child();
nopal::task<> parent() {
  co_await nopal::fork(child);
  co_await nopal::join();
}
