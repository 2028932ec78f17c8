#pragma once

// The region of the whole process, by NOPAL_PROFILE_OUT, NOPAL_PROFILE_UNIT, NOPAL_PROFILE_BURDEN and NOPAL_PROFILE_WHAT_IF. Next:
// any_region.hpp.

#include "nopal/profile/procedure.hpp"  // which declares begin_process_region, for all that is measured
