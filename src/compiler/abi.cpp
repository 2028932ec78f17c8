#include "nopal/core/compiler/abi.h"

/* What programs in C refer to: see the header. */
extern "C" __attribute__((visibility("default"))) void NOPAL_SAME_ABI(void) {}
