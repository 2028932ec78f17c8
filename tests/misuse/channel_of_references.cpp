// expect: nopal: a channel's values are moved out of it, and their destructors do not throw. Write channel<std::remove_cvref_t<T>>.
#include <nopal/nopal.hpp>

void parent() { nopal::channel<int&> ch{1}; }
