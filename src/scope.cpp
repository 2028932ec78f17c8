#include "nopal/scope.hpp"

namespace nopal::core {

// What a child throws, its own scope gets: see outside_child::run.
void begin_all(outside_children& all) {
  scope s;
  while (outside_child* const c = all.take_newest()) s.fork([c] { c->run(*c); });
}

}  // namespace nopal::core
