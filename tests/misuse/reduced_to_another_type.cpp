// expect: nopal: reduce returns what `init` is, and makes it of elements too.
#include <nopal/nopal.hpp>
#include <string>
#include <vector>

int root(std::vector<std::string> const& v) { return nopal::reduce(v, 0); }
