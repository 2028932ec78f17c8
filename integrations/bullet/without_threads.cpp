// What must not compile, as the cases of ../../tests/misuse: without Bullet's threads.
#include "nopal_bullet.hpp"

// case: without_threads
// expect: Bullet's loops are serial, and its headers take no locks, without BT_THREADSAFE
#ifdef BT_THREADSAFE
#error "This is compiled without it."
#endif
nopal::bullet_scheduler scheduler_of(nopal::pool& pool) { return nopal::bullet_scheduler{pool}; }
