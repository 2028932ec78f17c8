#pragma once

// The region of the whole process: what NOPAL_PROFILE_OUT, NOPAL_PROFILE_UNIT and NOPAL_PROFILE_BURDEN say. Next: any_region.hpp.

#include "nopal/profile/procedure.hpp"  // which declares begin_process_region, for all that is measured
