#pragma once

// Functions that take arguments of every kind, each as an ordinary function and as a coroutine function, and their pool.

#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "callable_parts.hpp"
#include "nopal/nopal.hpp"

namespace test::given {

inline nopal::pool& ground() {
  static nopal::pool pool{{.workers = 3}};
  return pool;
}
/// Every coroutine here awaits this first: its starter returns during the wait, and its temporaries are destroyed.
inline auto moving() { return nopal::resume_on(ground().worker(nopal::this_worker::index() == 0 ? 1 : 0)); }

inline std::string const lasting(100, 'l');
enum class color : short { red = 7 };
struct number {
  number(long n) : value{n} {}  // NOLINT(google-explicit-constructor): converted from a long
  long value;
};

// The functions: each returns a number that only its whole argument gives. f: an ordinary function, f_task: a coroutine function.

#define BOTH(NAME, PARAMETERS, EXPRESSION)                              \
  inline long NAME PARAMETERS { return static_cast<long>(EXPRESSION); } \
  inline nopal::task<long> NAME##_task PARAMETERS {                     \
    co_await moving();                                                  \
    co_return static_cast<long>(EXPRESSION);                            \
  }
inline long sum(auto const& all) { return std::accumulate(std::begin(all), std::end(all), 0L); }
BOTH(of_string, (std::string s), sum(s))
BOTH(of_string_const, (std::string const& s), sum(s))
BOTH(of_string_temporary, (std::string && s), sum(s))
BOTH(of_string_view, (std::string_view s), sum(s))
BOTH(of_span, (std::span<int const> s), sum(s))
BOTH(of_list, (std::initializer_list<int> l), sum(l))
BOTH(of_unique, (std::unique_ptr<long> p), *p)
BOTH(of_unique_const, (std::unique_ptr<long> const& p), *p)
BOTH(of_handle, (callables::handle h, callables::handle i), h.value * 10 + i.value)
BOTH(of_pointer, (int const* p), p == nullptr ? -1 : *p)
BOTH(of_array, (int const (&a)[3]), sum(a))
BOTH(of_color, (color c), c)
BOTH(of_number_const, (number const& n), n.value)
BOTH(of_volatile, (int volatile& n), n)
BOTH(of_reference, (long& n), ++n)
BOTH(of_function, (long (*f)(color), color c), f(c))
#undef BOTH

inline long total(std::string_view s) { return sum(s); }
inline int const three[3] = {1, 2, 3};

}  // namespace test::given
