#include "nopal/core/sanitizers.h"

void NOPAL_SAME_SANITIZERS(void) {}
