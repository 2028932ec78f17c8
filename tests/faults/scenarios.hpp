#pragma once

#include <vector>

#include "every_site.hpp"

namespace test::faults {

/// What the library can do, each thing with one result.
std::vector<scenario> const& scenarios();

}  // namespace test::faults
