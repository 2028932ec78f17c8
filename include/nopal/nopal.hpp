#pragma once

// Everything.

#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"
