#include "nopal/core/compiler/sanitizers.h"

void NOPAL_SAME_SANITIZERS(void) {}
