// Ordinary functions: what scopes fork, fibers are spawned of, parallel_invoke calls and parallel_for loops over; and what else they use.
#include <memory>
#include <nopal/nopal.hpp>
#include <string>
#include <vector>

nopal::task<long> fib(long n);
void f(int n);

// case: scope_forked_coroutine
// expect: nopal: scope::fork runs ordinary functions. Write s.fork([&] { x = nopal::sync_wait(f, a); })
void parent(nopal::scope& s) {
  s.fork([] { return fib(10); });
}

// case: scope_forked_with_arguments
// expect: nopal: scope::fork takes something to be called without arguments. Write s.fork([=] { f(a, b); })
void parent(nopal::scope& s) { s.fork(f); }

// case: scope_forked_uncopyable
// expect: nopal: scope::fork keeps its closure by value, and this one cannot be copied. Write s.fork(std::move(f)).
void parent(nopal::scope& s) {
  auto const f = [p = std::make_unique<int>(1)] { (void)p; };
  s.fork(f);
}

// case: spawned_coroutine
// expect: nopal: a fiber is an ordinary function. Write spawn([=] { nopal::sync_wait(f, a); })
void parent() {
  nopal::spawn([] { return fib(10); });
}

// case: spawned_with_arguments
// expect: nopal: spawn takes something to be called without arguments. Write spawn([=] { f(a, b); })
void parent() { nopal::spawn(f); }

// case: spawned_uncopyable
// expect: nopal: spawn keeps its closure by value, and this one cannot be copied. Write spawn(std::move(f)).
void parent() {
  auto const f = [p = std::make_unique<int>(1)] { (void)p; };
  nopal::spawn(f);
}

// case: spawned_overaligned
// expect: nopal: a fiber's closure is aligned to at most 16 bytes. Capture a pointer to what needs more.
struct alignas(64) line {
  int words[16];
};
void parent(line const& l) {
  nopal::spawn([l] { (void)l; });
}

// case: invoked_coroutine
// expect: nopal: parallel_invoke calls ordinary functions. Write [&] { x = nopal::sync_wait(f, a); }
void parent() {
  nopal::parallel_invoke([] {}, [] { return fib(10); });
}

// case: invoked_with_arguments
// expect: nopal: parallel_invoke calls each of its arguments as it was given and without arguments. Write [&] { f(a, b); } for f(a, b).
void parent() {
  nopal::parallel_invoke([] {}, f);
}

// case: invoked_temporary_by_name
// expect: nopal: parallel_invoke calls each of its arguments as it was given and without arguments.
struct once {
  void operator()() && {}
};
void parent(once& f) {
  nopal::parallel_invoke([] {}, f);
}

// case: looped_coroutine
// expect: nopal: the body of a loop is an ordinary function. Call nopal::sync_wait(f, i) in it for a coroutine function f.
nopal::task<void> work(int i);
void loop() { nopal::parallel_for(0, 10, work); }

// case: looped_without_index
// expect: nopal: parallel_for calls its body with an index: [&](auto i) { ... }
void loop() {
  nopal::parallel_for(0, 10, [] {});
}

// case: looped_without_first
// expect: nopal: parallel_for goes from one number to another
void loop() {
  nopal::parallel_for(10, [](int) {});
}

// case: looped_range
// expect: nopal: parallel_for goes from one number to another
void loop(std::vector<int>& v) {
  nopal::parallel_for(v, [](int& x) { ++x; });
}

// case: looped_between_iterators
// expect: nopal: parallel_for counts whole numbers of at most 64 bits.
void loop(std::vector<int>& v) {
  nopal::parallel_for(v.begin(), v.end(), [](int& x) { ++x; });
}

// case: looped_with_step
// expect: nopal: parallel_for has no step.
void loop() {
  nopal::parallel_for(0, 10, 2, [](int) {});
}

// case: blocks_with_one_index
// expect: nopal: parallel_for_blocks calls its body with the two ends of a block: [&](auto first, auto last) { ... }
void loop() {
  nopal::parallel_for_blocks(0, 10, [](int) {});
}

// case: blocks_with_step
// expect: nopal: parallel_for_blocks goes from one whole number to another, without a step
void loop() {
  nopal::parallel_for_blocks(0, 10, 2, [](int, int) {});
}

// case: channel_of_references
// expect: nopal: a channel's values are moved out of it, and their destructors do not throw. Write channel<std::remove_cvref_t<T>>.
void parent() { nopal::channel<int&> ch{1}; }

// case: profile_without_option
// expect: nopal: a profile measures only what is compiled with NOPAL_PROFILE. In CMake, link nopal::profile.
void measured() { nopal::profile const p; }

// case: span_named_by_variable
// expect: is not a constant expression
void phase(std::string const& name) { nopal::trace_span const s{name.c_str()}; }
