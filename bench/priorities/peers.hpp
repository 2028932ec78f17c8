#pragma once

// Other libraries with priorities, each on a pool of its own. Those that were not found have null.

#include <array>
#include <functional>

#include "subject.hpp"

namespace bench {

/// Makes a pool of the library, and calls `row` for each way of its users to fill it.
using rows_of_peer = void (*)(unsigned workers, int leaves, std::function<void(subject const&)> const& row);

#ifdef NOPAL_BENCH_TOOMANYCOOKS
void rows_of_toomanycooks(unsigned workers, int leaves, std::function<void(subject const&)> const& row);
#else
inline constexpr rows_of_peer rows_of_toomanycooks = nullptr;
#endif
#ifdef NOPAL_BENCH_ENKITS
void rows_of_enkits(unsigned workers, int leaves, std::function<void(subject const&)> const& row);
#else
inline constexpr rows_of_peer rows_of_enkits = nullptr;
#endif

inline constexpr std::array<rows_of_peer, 2> peers{rows_of_toomanycooks, rows_of_enkits};

}  // namespace bench
