#pragma once

// A dispatcher of Bullet's for worlds that step to the same bits on any number of threads, of nopal's or of Bullet's own. README.md beside this
// says why.

#include <BulletCollision/CollisionDispatch/btCollisionDispatcherMt.h>

#include <utility>

namespace nopal {

/// Collides pairs in parallel, and then puts the manifolds in the order of their bodies' places in the world: Bullet's own order tells which thread
/// made which, and solvers go by it. For bodies that touch by one manifold: no compound or concave shape meets another one or is hit at its
/// continuous motion, by which two bodies have several.
class ordered_dispatcher final : public btCollisionDispatcherMt {
 public:
  using btCollisionDispatcherMt::btCollisionDispatcherMt;

  void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, btDispatcherInfo const& info, btDispatcher* dispatcher) override {
    btCollisionDispatcherMt::dispatchAllCollisionPairs(pairs, info, dispatcher);
    m_manifoldsPtr.quickSort([](btPersistentManifold const* a, btPersistentManifold const* b) { return places(*a) < places(*b); });
    for (int k = 0; k < m_manifoldsPtr.size(); ++k) m_manifoldsPtr[k]->m_index1a = k;
  }

 private:
  static std::pair<int, int> places(btPersistentManifold const& m) {
    return {m.getBody0()->getWorldArrayIndex(), m.getBody1()->getWorldArrayIndex()};
  }
};

}  // namespace nopal
