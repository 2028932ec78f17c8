// expect: is not a constant expression
#include <nopal/nopal.hpp>
#include <string>

void phase(std::string const& name) { nopal::trace_span const s{name.c_str()}; }
