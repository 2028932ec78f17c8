// expect: nopal: reduce returns what `init` is, and makes it of elements too.
#include <string>
#include <vector>
#include <nopal/nopal.hpp>

int root(std::vector<std::string> const& v) { return nopal::reduce(v, 0); }
