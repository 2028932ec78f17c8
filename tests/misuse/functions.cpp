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

// case: pipeline_stage_takes_something_else
// expect: nopal: a stage of this pipeline cannot be called with what the stage before it returns
std::optional<int> numbers();
void parent() {
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{[](int k) { return std::to_string(k); }},
                  nopal::stage::serial{[](int k) { return k; }}, nopal::stage::serial_in_order{[](int) {}});
}

// case: pipeline_first_stage_takes_the_optional
// expect: nopal: a stage of this pipeline cannot be called with what the stage before it returns
std::optional<std::string> lines();
void parent() {
  nopal::pipeline(nopal::tokens{4}, lines, nopal::stage::parallel{[](int*) {}});
}

// case: pipeline_stage_takes_a_named_value
// expect: nopal: a stage of this pipeline cannot be called with what the stage before it returns
std::optional<int> numbers();
void parent() {
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{[](int& k) { ++k; }});
}

// case: pipeline_of_plain_functions
// expect: nopal: a stage of a pipeline says how items pass through it. Write stage::serial_in_order{f}, stage::serial{f} or stage::parallel{f}
std::optional<int> numbers();
void parent() { nopal::pipeline(nopal::tokens{4}, numbers, f); }

// case: pipeline_without_stages
// expect: nopal: a pipeline has at least one stage behind its source.
std::optional<int> numbers();
void parent() { nopal::pipeline(nopal::tokens{4}, numbers); }

// case: pipeline_source_without_end
// expect: nopal: the source of a pipeline returns a std::optional: the next item, or std::nullopt at the end.
int numbers();
void parent() { nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{f}); }

// case: pipeline_source_with_arguments
// expect: nopal: the source of a pipeline is called without arguments, again and again.
void parent() {
  nopal::pipeline(nopal::tokens{4}, [](int k) { return std::optional{k}; }, nopal::stage::parallel{f});
}

// case: pipeline_stage_returns_void
// expect: nopal: only the last stage of a pipeline may return void: the next one is called with what a stage returns.
std::optional<int> numbers();
void parent() {
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{f}, nopal::stage::serial{[](int) {}});
}

// case: pipeline_of_coroutines
// expect: nopal: a stage of a pipeline is an ordinary function. Write [&](auto&& x) { return nopal::sync_wait(f, x); }
std::optional<long> numbers();
void parent() { nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{fib}); }

// case: pipeline_stage_returns_a_reference
// expect: nopal: a stage of this pipeline returns a reference to something that cannot be copied
std::optional<int> numbers();
std::unique_ptr<int>& kept(int k);
void parent() {
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{kept}, nopal::stage::serial{[](auto&&) {}});
}

// case: pipeline_stage_returns_an_array
// expect: nopal: a stage of this pipeline returns an array
struct row {
  int cells[4];
};
std::optional<row> rows();
void parent() {
  nopal::pipeline(nopal::tokens{4}, rows, nopal::stage::parallel{&row::cells}, nopal::stage::serial{[](int*) {}});
}

// case: pipeline_source_returns_a_reference
// expect: nopal: the source of this pipeline returns a reference to a std::optional that cannot be copied
std::optional<std::unique_ptr<int>>& kept();
void parent() {
  nopal::pipeline(nopal::tokens{4}, kept, nopal::stage::parallel{[](std::unique_ptr<int>) {}});
}

// case: pipeline_source_is_const
// expect: nopal: the source of this pipeline is const, and its call changes it
void parent() {
  auto const numbers = [k = 0]() mutable { return std::optional{k++}; };
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{f});
}

// case: pipeline_with_true_tokens
// expect Clang: no matching conversion for functional-style cast from 'bool' to 'nopal::tokens'
// expect GNU: no matching function for call to
std::optional<int> numbers();
void parent() { nopal::pipeline(nopal::tokens(true), numbers, nopal::stage::parallel{f}); }

// case: pipeline_as_it_is_meant
std::optional<int> numbers();
void parent() {
  nopal::pipeline(nopal::tokens{4}, numbers, nopal::stage::parallel{[](int k) { return std::make_unique<int>(k); }},
                  nopal::stage::serial{[](std::unique_ptr<int> p) { return *p; }}, nopal::stage::serial_in_order{f});
}
