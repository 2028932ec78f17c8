// The prelude is compiled once, for all programs.
#include "prelude.hpp"
