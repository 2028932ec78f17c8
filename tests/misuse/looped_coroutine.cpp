// expect: nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, i) in it for a coroutine function f.
#include <nopal/nopal.hpp>

nopal::task<void> work(int i);

void loop() { nopal::parallel_for(0, 10, work); }
