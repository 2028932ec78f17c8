// expect Clang: no matching member function for call to 'await_transform'
// expect Clang: nopal_what_returns_void_is_called_without_co_await
// expect GNU: invalid use of void expression
#include <nopal/nopal.hpp>

nopal::task<> parent(nopal::mutex& m) { co_await m.lock(); }
