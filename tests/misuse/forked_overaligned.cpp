// expect: nopal: arguments of a task may be aligned to at most 16 bytes
#include <nopal/nopal.hpp>

struct alignas(64) line {
  int words[16];
};
nopal::task<> child(line l);

nopal::task<> parent() {
  co_await nopal::fork(child, line{});
  co_await nopal::join;
}
