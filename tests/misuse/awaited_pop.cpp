// expect: nopal: a task can await only what nopal makes: fork, call, join, stack_array, resume_on, a future, counter::reaches. All else is called without co_await
#include <nopal/nopal.hpp>

nopal::task<> parent(nopal::channel<int>& c) { auto const v = co_await c.pop(); }
