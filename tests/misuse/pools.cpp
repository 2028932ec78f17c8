// Pools: what is given to run, submit, detach and sync_wait from outside.
#include <atomic>
#include <initializer_list>
#include <memory>
#include <nopal/nopal.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

nopal::task<int> number(int n);
int f(int n);

// case: pool_of_a_number
// expect: nopal: a pool takes options. Write nopal::pool{{.workers = 4}} for pool{4}.
void root() { nopal::pool pool{4}; }

// case: run_call
// expect: nopal: here the function is called, and its task is given.
int root(nopal::pool& pool) { return pool.run(number(1)); }

// case: submitted_call
// expect: nopal: here the function is called, and its task is given.
void root(nopal::pool& pool) { auto f = pool.submit(number(1)); }

// case: sync_wait_of_call
// expect: nopal: here the function is called, and its task is given.
int root() { return nopal::sync_wait(number(1)); }

// case: wrong_arguments_of_run
// expect: nopal: the function cannot be called with these arguments.
void root(nopal::pool& pool) { int const n = pool.run(f, std::string{"one"}); }

// case: wrong_arguments_of_submit
// expect: nopal: the function cannot be called with these arguments.
bool root(nopal::pool& pool) {
  auto later = pool.submit(f, std::string{"one"});
  return later.get() == 1;
}

// case: wrong_arguments_of_detach
// expect: nopal: the function cannot be called with these arguments.
void root(nopal::pool& pool) { pool.detach(f, std::string{"one"}); }

// case: wrong_arguments_of_sync_wait
// expect: nopal: the function cannot be called with these arguments.
void root() { int const n = nopal::sync_wait(f, std::string{"one"}); }

// case: wrong_argument_of_member
// expect: nopal: the function cannot be called with these arguments.
struct object {
  int method(int n) const;
};
int root(nopal::pool& pool, object const& o) { return pool.submit(&object::method, o, "one").get(); }

// case: wrong_count_of_arguments
// expect: nopal: the function cannot be called with these arguments.
int root(nopal::pool& pool) { return pool.run(number, 1, 2); }

// case: run_hidden_parameters
// expect: nopal: the parameters of this callable cannot be seen, because it is overloaded or a template.
struct overloaded {
  nopal::task<int> operator()(int) const { co_return 1; }
  nopal::task<int> operator()(std::string const&) const { co_return 2; }
};
int root(nopal::pool& pool) { return pool.run(overloaded{}, "it would be converted to a temporary std::string"); }

// case: submitted_hidden_parameters
// expect: nopal: the parameters of this callable cannot be seen, because it is overloaded or a template.
struct overloaded {
  nopal::task<int> operator()(int) const { co_return 1; }
  nopal::task<int> operator()(std::string const&) const { co_return 2; }
};
int root(nopal::pool& pool) { return pool.submit(overloaded{}, "it would be converted to a temporary std::string").get(); }

// case: submitted_to_hidden_reference
// expect: nopal::pool::submit and detach: the parameters of this callable cannot be seen, because it is overloaded or a template, so the job copies its arguments, and it does not take the copies. Write std::ref(x)
struct overloaded {
  void operator()(int& n) const { ++n; }
  void operator()(long& n) const { ++n; }
};
void root(nopal::pool& pool, int n) { pool.submit(overloaded{}, n).get(); }

// case: run_immovable_result
// expect: nopal: what this function returns cannot be moved to the caller that waits for it. Let it fill an object of the caller's.
std::atomic<int> immovable();
void root(nopal::pool& pool) { pool.run(immovable); }

// case: copied_future
// expect: future
void root(nopal::pool& pool) {
  auto f = pool.submit([] { return 1; });
  auto g = f;
}

// case: submitted_reference_to_temporary
// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
nopal::task<> log(std::string const& line);
void root(nopal::pool& pool) { (void)pool.submit(log, std::string(100, 'x')); }

// case: submitted_reference_to_converted
// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
int length(std::string const& line);
void root(nopal::pool& pool) { pool.submit(length, "it would be converted to a temporary std::string").get(); }

// case: submitted_rvalue_reference
// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
int length(std::string&& line);
void root(nopal::pool& pool, std::string line) { pool.submit(length, std::move(line)).get(); }

// case: submitted_temporary_object
// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
struct object {
  int method() const;
};
void root(nopal::pool& pool) { pool.submit(&object::method, object{}).get(); }

// case: detached_reference_to_temporary
// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
void log(std::string const& line);
void root(nopal::pool& pool) { pool.detach(log, std::string(100, 'x')); }

// case: submitted_view_of_temporary
// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
int sum(std::span<int const> all);
void root(nopal::pool& pool) { pool.submit(sum, std::vector{1, 2, 3}).get(); }

// case: submitted_list_of_temporaries
// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
int sum(std::initializer_list<int> all);
void root(nopal::pool& pool) { pool.submit(sum, std::initializer_list<int>{1, 2, 3}).get(); }

// case: detached_view_of_temporary
// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
nopal::task<> log(std::string_view line);
void root(nopal::pool& pool) { pool.detach(log, std::string(100, 'x')); }

// case: submitted_uncopyable
// expect: nopal::pool::submit and detach: the job keeps its closure by value, and this one cannot be copied. Write std::move(f).
void root(nopal::pool& pool) {
  auto const f = [p = std::make_unique<int>(1)] { return *p; };
  pool.submit(f).get();
}

// case: then_of_another_value
// expect: nopal: then calls its function with the future's value
void root(nopal::future<std::string> f) {
  auto later = f.then([](int) {});
}

// case: then_that_takes_a_shared_value
// expect: nopal: then calls its function with the future's value
void root(nopal::shared_future<std::unique_ptr<int>> const& f) {
  auto later = f.then([](std::unique_ptr<int>) {});
}

// case: then_of_nothing_with_a_value
// expect: nopal: then calls its function with the future's value
void root(nopal::future<void> f) {
  auto later = f.then([](int) {});
}

// case: then_of_a_function_that_cannot_be_copied
// expect: nopal: then keeps its function by value, and this one cannot be copied.
void root(nopal::future<void> f) {
  auto const next = [p = std::unique_ptr<int>{}] {};
  auto later = f.then(next);
}

// case: after_a_temporary_counter
// expect: nopal: after takes futures, ranges of futures, and counters, which must have names.
void root(nopal::pool& pool) {
  auto later = pool.submit(nopal::after(nopal::counter{1}), [] {});
}

// case: after_a_number
// expect: nopal: after takes futures, ranges of futures, and counters, which must have names.
void root(nopal::pool& pool) {
  auto later = pool.submit(nopal::after(3), [] {});
}

// case: submit_after_with_wrong_arguments
// expect: nopal: the function cannot be called with these arguments.
void root(nopal::pool& pool) { auto later = pool.submit(nopal::after(), f, std::string{"one"}); }

// case: spawn_after_of_a_function_with_parameters
// expect: nopal: spawn takes something to be called without arguments.
void root(nopal::pool& pool) { pool.spawn(nopal::after(), f); }

// case: spawn_after_of_a_coroutine_function
// expect: nopal: a fiber is an ordinary function.
void root() {
  nopal::spawn(nopal::after(), [] { return number(1); });
}

// case: promise_of_another_value
// expect: nopal: promise::set_value makes the value from its argument
void root(nopal::promise<int>& p) { p.set_value(std::string{"one"}); }

// case: promise_of_a_temporary_for_a_reference
// expect Clang: no matching member function for call to 'set_value'
// expect GNU: no matching function for call to
void root(nopal::promise<int&>& p) { p.set_value(1); }

// case: what_begins_after_others
void root(nopal::pool& pool, nopal::counter& c, nopal::future<int> const& a, nopal::shared_future<int> const& b) {
  auto later = pool.submit(nopal::after(a, b, c, std::vector{b}), f, 1).then([](int) {});
  nopal::spawn(nopal::after(later), c, [] {});
}
