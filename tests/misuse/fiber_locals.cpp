// Fiber-locals: of what there may be one.
#include <memory>
#include <nopal/nopal.hpp>
#include <string>

struct no_default {
  explicit no_default(int n);
};

// case: fiber_local_without_default_constructor
// expect: nopal: this T has no default constructor.
void root() { nopal::fiber_local<no_default> x; }

// case: fiber_local_of_a_reference
// expect: nopal: fiber_local<T> makes a T for each fiber: no reference, no array, no constant.
void root(nopal::fiber_local<int&>& x) { static_cast<void>(x.has_value()); }

// case: fiber_local_of_an_array
// expect: nopal: fiber_local<T> makes a T for each fiber: no reference, no array, no constant.
void root(nopal::fiber_local<int[3]>& x) { static_cast<void>(x.has_value()); }

// case: fiber_local_of_a_constant
// expect: nopal: fiber_local<T> makes a T for each fiber: no reference, no array, no constant.
void root(nopal::fiber_local<int const>& x) { static_cast<void>(x.has_value()); }

// case: copied_fiber_local
// expect: deleted
void root(nopal::fiber_local<int>& x) { nopal::fiber_local<int> y{x}; }
