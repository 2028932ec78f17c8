#pragma once

// What nearly every test includes, compiled once for all test programs. Each test still includes what it uses: the nightly compiles them
// without this.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/nopal.hpp"
