#pragma once

// A part of a program that is compiled without NOPAL_PROFILE. It is used by one that is compiled with it.

#include <functional>

namespace nopal_test {

/// fib, forked by functions that nothing is known of.
long plain_fib(int n);
/// fib of tasks, as a job of the default pool.
long plain_tasks(int n);
/// Calls both in parallel.
void plain_invoke(std::function<void()> const& f, std::function<void()> const& g);
/// Spawns f and waits for it.
void plain_fiber(std::function<void()> const& f);

}  // namespace nopal_test
