#pragma once

// All loops and algorithms. Each has a header of its own in algorithm/, which says what it costs.

#include "nopal/core/compiler/config.hpp"

#include "nopal/algorithm/grain.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/algorithm/parallel_for_blocks.hpp"
#include "nopal/algorithm/reduce.hpp"
#include "nopal/algorithm/transform_reduce.hpp"
