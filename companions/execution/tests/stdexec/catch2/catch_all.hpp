#pragma once

// stdexec's tests include Catch2 3; Debian 12 has Catch2 2, which has all that they use, in one header. With main in one of the programs'
// sources: NOPAL_CATCH_MAIN.

#ifdef NOPAL_CATCH_MAIN
#define CATCH_CONFIG_MAIN
#endif
#include <catch2/catch.hpp>
