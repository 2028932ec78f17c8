#include "nopal/core/compiler/sanitizers.h"

/* The one of the three functions that this library has: see the header. */
void NOPAL_SAME_SANITIZERS(void) {}
