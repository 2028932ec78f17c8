// expect: nopal: a task can await only what nopal makes: fork, call, join, stack_array, resume_on, a future, counter::reaches.
#include <coroutine>
#include <nopal/nopal.hpp>

nopal::task<> parent() { co_await std::suspend_always{}; }
