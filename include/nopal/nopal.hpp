#pragma once

// Everything.

#include "nopal/core/compiler/config.hpp"

#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/stats.hpp"
#include "nopal/task.hpp"
