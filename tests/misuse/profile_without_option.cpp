// expect: nopal: a profile measures only what is compiled with NOPAL_PROFILE. In CMake, link nopal::profile.
#include <nopal/nopal.hpp>

void measured() { nopal::profile const p; }
