// Tasks: what is forked, called and awaited in a coroutine. What would follow is left out, the join above all.
#include <coroutine>
#include <initializer_list>
#include <memory>
#include <nopal/nopal.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

nopal::task<> nothing();
nopal::task<int> number(int n);

// case: control
// Correct use of the library compiles with the same flags.
nopal::task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, fib, n - 1);
  co_await nopal::call(&b, fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

// A generic closure among the arguments is not called with those that follow.
constexpr auto size_of = [](auto const& text) { return text.size(); };
nopal::task<> keep(decltype(size_of), int) { co_return; }
nopal::task<> parent() {
  co_await nopal::fork(keep, size_of, 3);
  co_await nopal::join;
}

int main() {
  nopal::pool pool;
  return pool.run(fib, 10) == 55 ? 0 : 1;
}

// case: not_awaited_call
// expect: nopal: nothing starts without co_await. Write co_await nopal::call(...)
#pragma GCC diagnostic error "-Wunused-result"
nopal::task<int> parent() {
  nopal::call(number, 1);
  co_return 0;
}

// case: not_awaited_fork
// expect: nopal: nothing starts without co_await. Write co_await nopal::fork(...)
#pragma GCC diagnostic error "-Wunused-result"
nopal::task<int> parent() {
  int n = 0;
  nopal::fork(&n, number, 1);
  co_await nopal::join;
  co_return n;
}

// case: awaited_task
// expect: nopal: a task is not awaited directly. Write co_await nopal::call(f, args...) instead of co_await f(args...).
nopal::task<int> parent() { co_return co_await number(1); }

// case: awaited_join_with_parentheses
// expect: nopal: join is not a function. Write co_await nopal::join, without parentheses.
nopal::task<> parent() {
  co_await nopal::fork(nothing);
  co_await nopal::join();
}

// case: awaited_stranger
// expect: nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for,
nopal::task<> parent() { co_await std::suspend_always{}; }

// case: awaited_get
// expect: nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for,
nopal::task<> parent(nopal::future<int>& f) { int const n = co_await f.get(); }

// case: awaited_try_pop
// expect: nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for,
nopal::task<> parent(nopal::channel<int>& c) { auto const v = co_await c.try_pop(); }

// case: awaited_try_push
// expect: nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for,
nopal::task<> parent(nopal::channel<int>& c) { co_await c.try_push(1); }

// case: awaited_wait_with_limit
// expect: nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for,
nopal::task<> parent(nopal::counter& left) { co_await nopal::wait_for(left, 0, std::chrono::milliseconds{1}); }

// case: awaited_condition
// expect Clang: no matching member function for call to 'await_transform'
// expect Clang: nopal_what_returns_void_is_called_without_co_await
// expect GNU: invalid use of void expression
nopal::task<> parent(nopal::condition_variable& c, std::unique_lock<nopal::mutex>& lock) { co_await c.wait(lock); }

// case: kept_sleep
// expect Clang: call to implicitly-deleted copy constructor of
// expect GNU: use of deleted function
nopal::task<> parent() {
  auto const slept = nopal::sleep_for(std::chrono::milliseconds{1});
  co_return;
}

// case: awaited_aligned_value
// expect: nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Let the channel hold std::unique_ptr<T>
struct alignas(64) wide {
  int n;
};
nopal::task<> parent(nopal::channel<wide>& c) { co_await c.pop(); }

// case: called_aligned_value
// expect: nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Give a slot outside of tasks
struct alignas(64) wide {
  int n;
};
nopal::task<wide> child();
nopal::task<> parent() { co_await nopal::call(child); }

// case: awaited_shared_future_without_a_name
// expect: nopal: co_await of a shared_future returns a reference to its value, and this one is a temporary
nopal::task<int> parent(nopal::pool& pool) {
  int sum = 0;
  for (int const n : co_await pool.submit([] { return std::vector{1, 2}; }).share()) sum += n;
  co_return sum;
}

// case: awaited_shared_futures
// Of a temporary too where nothing refers to it.
nopal::task<int> parent(nopal::shared_future<std::vector<int>> all, nopal::pool& pool, int& there) {
  for (int const n : co_await all) there += n;
  co_await pool.submit([] {}).share();
  int& same = co_await pool.submit([&]() -> int& { return there; }).share();
  co_return same;
}

// case: awaited_aligned_future
// expect: nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Take it by get()
struct alignas(64) wide {
  int n;
};
nopal::task<> parent(nopal::future<wide>& f) { co_await f; }

// case: awaited_wait_for
// expect: nopal: this is called, and not awaited. Write nopal::yield(); or nopal::wait_for(left); without co_await
nopal::task<> parent(nopal::counter& left) { co_await nopal::wait_for(left); }

// case: awaited_yield
// expect: nopal: this is called, and not awaited. Write nopal::yield(); or nopal::wait_for(left); without co_await
nopal::task<> parent() { co_await nopal::yield(); }

// case: called_ordinary_function
// expect: nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary function as it is
int child(int n);
nopal::task<int> parent() { co_return co_await nopal::call(child, 1); }

// case: forked_ordinary_function
// expect: nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary function as it is
int child(int n);
nopal::task<> parent(int& n) { co_await nopal::fork(&n, child, 1); }

// case: forked_call
// expect: nopal: here the function is called, and its task is given.
nopal::task<> parent(int& n) { co_await nopal::fork(&n, number(1)); }

// case: forked_call_without_slot
// expect: nopal: here the function is called, and its task is given.
nopal::task<> parent() { co_await nopal::fork(number(1)); }

// case: wrong_arguments
// expect: nopal: the function cannot be called with these arguments.
nopal::task<> child(int n);
nopal::task<> parent() { co_await nopal::fork(child, std::string{"one"}); }

// case: wrong_arguments_with_slot
// expect: nopal: the function cannot be called with these arguments.
nopal::task<> parent(int& n) { co_await nopal::fork(&n, number, 1, 2); }

// case: hidden_parameters
// expect: nopal: the parameters of this callable cannot be seen, because it is overloaded or a template.
struct overloaded {
  nopal::task<> operator()(int) const { co_return; }
  nopal::task<> operator()(char const*) const { co_return; }
};
nopal::task<> parent(overloaded const& f) { co_await nopal::fork(f, 1); }

// case: called_with_slot_by_value
// expect: nopal: a slot is given by its address. Write fork(&x, f, a) for fork(x, f, a).
nopal::task<> parent(int& n) { co_await nopal::call(n, number, 1); }

// case: forked_with_slot_by_value
// expect: nopal: a slot is given by its address. Write fork(&x, f, a) for fork(x, f, a).
nopal::task<> parent(int& n) { co_await nopal::fork(n, number, 1); }

// case: forked_with_slot_for_nothing
// expect: nopal: this function returns nopal::task<>, so there is no result for a slot.
nopal::task<> parent(int& n) { co_await nopal::fork(&n, nothing); }

// case: slot_of_another_type
// expect: nopal: the slot must be a T* or a nopal::eventually<T>* for a function that returns nopal::task<T>.
nopal::task<> parent(long& n) { co_await nopal::fork(&n, number, 1); }

// case: slot_that_cannot_be_assigned
// expect: nopal: this function's result cannot be assigned to the slot. Let the slot be a nopal::eventually<T>.
struct unassignable {
  std::string const text;
};
nopal::task<unassignable> child(int n);
nopal::task<> parent(unassignable& slot) { co_await nopal::fork(&slot, child, 1); }

// case: forked_reference_to_temporary
// expect: nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does.
nopal::task<> child(std::vector<int> const& v);
nopal::task<> parent() { co_await nopal::fork(child, std::vector<int>(3)); }

// case: forked_reference_to_converted
// expect: nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does.
nopal::task<> child(std::string const& s);
nopal::task<> parent() {
  char const* const text = "it would be converted to a temporary std::string";
  co_await nopal::fork(child, text);
}

// case: forked_default_argument
// expect: nopal: a reference parameter of this coroutine has a default argument, which may die before the coroutine does.
nopal::task<> parent(int& n) {
  auto const child = [](int n, std::string const& s = "it would be a temporary std::string") -> nopal::task<int> {
    co_return n + static_cast<int>(s.size());
  };
  co_await nopal::fork(&n, child, 1);
}

// case: forked_view_of_temporary
// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
nopal::task<> child(std::string_view s);
nopal::task<> parent() { co_await nopal::fork(child, std::string(100, 'x')); }

// case: forked_view_of_temporary_with_slot
// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
nopal::task<int> child(std::string_view s);
nopal::task<> parent(int& n) { co_await nopal::fork(&n, child, std::string(100, 'x')); }

// case: forked_list_of_temporaries
// expect: nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does.
std::initializer_list<int> list();
nopal::task<> child(std::initializer_list<int> all);
nopal::task<> parent() { co_await nopal::fork(child, list()); }

// case: forked_temporary_closure
// expect: nopal::fork: this closure is a temporary, which dies before the child does. Give it a name that outlives the join
nopal::task<> parent(int n) {
  co_await nopal::fork([n]() -> nopal::task<> {
    (void)n;
    co_return;
  });
}

// case: forked_through_temporary_pointer
// expect: nopal::fork: the object is given through a pointer that is a temporary, which dies before the child does.
struct object {
  nopal::task<> method() { co_return; }
};
nopal::task<> parent() { co_await nopal::fork(&object::method, std::make_unique<object>()); }

// case: forked_overaligned
// expect: nopal: arguments of a task may be aligned to at most 16 bytes
struct alignas(64) line {
  int words[16];
};
nopal::task<> child(line l);
nopal::task<> parent() { co_await nopal::fork(child, line{}); }

// case: span_of_temporary_stack_array
// expect: deleted
nopal::task<> parent() {
  std::span<int> const all = co_await nopal::stack_array<int>(3);
  all[0] = 1;
}

// case: worker_of_temporary_pool
// expect: deleted
nopal::task<> parent() { co_await nopal::resume_on(nopal::pool{}.worker(0)); }
