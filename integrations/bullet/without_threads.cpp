// expect: Bullet's loops are serial, and its headers take no locks, without BT_THREADSAFE

#include "nopal_bullet.hpp"

#ifdef BT_THREADSAFE
#error "This is compiled without it."
#endif

int main() {
  nopal::pool pool;
  nopal::bullet_scheduler scheduler{pool};
  return 0;
}
