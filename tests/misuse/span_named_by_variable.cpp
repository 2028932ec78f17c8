// expect: is not a constant expression
#include <string>
#include <nopal/nopal.hpp>

void phase(std::string const& name) { nopal::span const s{name.c_str()}; }
