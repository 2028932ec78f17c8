#pragma once

// All of nopal for C++ in one header. nopal.h is the interface for C.

#include "nopal/core/compiler/config.hpp"

#include "nopal/affinity.hpp"
#include "nopal/after.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/barrier.hpp"
#include "nopal/block_on.hpp"
#include "nopal/call_once.hpp"
#include "nopal/cpu_limit.hpp"
#include "nopal/event_source.hpp"
#include "nopal/fiber.hpp"
#include "nopal/fiber_local.hpp"
#include "nopal/floating_point.hpp"
#include "nopal/graph.hpp"
#include "nopal/latch.hpp"
#include "nopal/native.hpp"
#include "nopal/pipeline.hpp"
#include "nopal/place.hpp"
#include "nopal/pool.hpp"
#include "nopal/priority.hpp"
#include "nopal/prometheus.hpp"
#include "nopal/promise.hpp"
#include "nopal/scratch.hpp"
#include "nopal/select.hpp"
#include "nopal/shared_future.hpp"
#include "nopal/shared_mutex.hpp"
#include "nopal/stats.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "nopal/timed_mutex.hpp"
#include "nopal/version.hpp"
#include "nopal/when_all.hpp"
#include "nopal/when_any.hpp"

// The headers of companions, if they are there.
#if __has_include("nopal/profile.hpp")
#include "nopal/profile.hpp"
#endif
#if __has_include("nopal/simulation.hpp")
#include "nopal/simulation.hpp"
#endif
#if __has_include("nopal/trace_span.hpp")
#include "nopal/span.hpp"
#include "nopal/trace_span.hpp"
#endif
