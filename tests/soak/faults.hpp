#pragma once

// The injector of faults, if it can be linked: not under ThreadSanitizer.

#include <cstdint>

#ifdef NOPAL_SOAK_FAULTS
#include "../faults/inject.hpp"
#endif

namespace soak::faults {

#ifdef NOPAL_SOAK_FAULTS

inline constexpr bool available = true;
using test::faults::disarm;
using test::faults::failures;
using test::faults::live_blocks;
using test::faults::spared;

/// While alive, one in so many allocations and mappings fails; 0: none.
class armed {
 public:
  armed(std::uint64_t one_in, std::uint64_t seed) noexcept : armed_{one_in != 0} {
    using test::faults::kind;
    constexpr auto kinds = test::faults::of(kind::allocation, kind::map, kind::protect, kind::unmap, kind::advise, kind::resident);
    if (armed_) test::faults::arm({.kinds = kinds, .one_in = one_in, .seed = seed});
  }
  armed(armed const&) = delete;
  armed& operator=(armed const&) = delete;
  ~armed() {
    if (armed_) test::faults::disarm();
  }

 private:
  bool armed_;
};

#else

inline constexpr bool available = false;
inline void disarm() noexcept {}
inline std::uint64_t failures() noexcept { return 0; }
inline std::int64_t live_blocks() noexcept { return 0; }
struct spared {
  spared() noexcept {}  // NOLINT(modernize-use-equals-default): a variable of it is used
};
struct armed {
  armed(std::uint64_t, std::uint64_t) noexcept {}
};

#endif

}  // namespace soak::faults
