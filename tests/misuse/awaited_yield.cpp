// expect: nopal: what waits is called, and not awaited. Write nopal::sleep_for(d); without co_await
#include <nopal/nopal.hpp>

nopal::task<> parent() { co_await nopal::yield(); }
