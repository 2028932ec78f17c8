// Worlds stepped by Bullet on nopal: bit for bit as by one thread, where Bullet's own threads do that.

#include "nopal_bullet.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "its_own_threads.hpp"
#include "scene.hpp"

namespace {

using test::scene;
using bytes = std::vector<unsigned char>;
using kind = scene::dispatcher;

#ifdef NOPAL_TEST_SLOW
constexpr int steps = 20;
#else
constexpr int steps = 60;
#endif

void fill(scene& s, int seed = 0) {
  for (int k = 0; k < 40; ++k) s.add_pyramid({btScalar(k % 8) * 14, 0, btScalar(k / 8) * 6 + btScalar(seed) / 7}, 5);
  for (int k = 0; k < 40; ++k) s.add_doll({btScalar(k % 8) * 3 - 40, 2 + btScalar(k % 3), btScalar(k / 8) * 3});
  for (int k = 0; k < 300; ++k) s.add_flyer({btScalar(k % 20) * 3, 100, btScalar(k / 20) * 3});
}
/// A world of a thousand bodies, and a wall of 800 as one island.
bytes piles(kind k) {
  scene s{k};
  fill(s);
  s.step(steps);
  return s.bytes();
}
bytes wall(kind k) {
  scene s{k, true};
  s.add_wall({0, 0, 0}, 40, 20);
  s.step(steps);
  return s.bytes();
}

/// Each test sets its own scheduler; what is expected is made by one thread, without nopal.
class bullet : public testing::Test {
 protected:
  static void SetUpTestSuite() { btSetTaskScheduler(btGetSequentialTaskScheduler()); }
  void TearDown() override { btSetTaskScheduler(btGetSequentialTaskScheduler()); }

  static bytes const& expected_piles() {
    static bytes const b = serially([] { return piles(kind::ordered); });
    return b;
  }
  static bytes const& expected_wall() {
    static bytes const b = serially([] { return wall(kind::ordered); });
    return b;
  }
  template <class F>
  static bytes serially(F const& f) {
    btITaskScheduler* const before = btGetTaskScheduler();
    btSetTaskScheduler(btGetSequentialTaskScheduler());
    bytes b = f();
    btSetTaskScheduler(before);
    return b;
  }
};

TEST_F(bullet, steps_worlds_as_one_thread_does) {
  test::on_pools([](nopal::pool& pool) {
    nopal::bullet_scheduler ours{pool};
    btSetTaskScheduler(&ours);
    EXPECT_EQ(btGetTaskScheduler()->getNumThreads(), static_cast<int>(pool.workers()) + 1);
    EXPECT_EQ(piles(kind::ordered), expected_piles());
    EXPECT_EQ(wall(kind::ordered), expected_wall());
    EXPECT_EQ(pool.run([] { return piles(kind::ordered); }), expected_piles());
  });
}

// With manifolds in the order of the pairs, whoever makes them, all else is independent of the threads.
TEST_F(bullet, solves_islands_as_one_thread_does_where_pairs_collide_serially) {
  bytes const expected = serially([] { return piles(kind::serial); });
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  EXPECT_EQ(piles(kind::serial), expected);
}

TEST_F(bullet, its_own_threads_do_no_more) {
  if (!test::runs_its_own_threads) GTEST_SKIP() << "ThreadSanitizer sees races in Bullet's own scheduler";
  bytes const expected = serially([] { return piles(kind::serial); });
  std::unique_ptr<btITaskScheduler> const own{btCreateDefaultTaskScheduler()};
  btSetTaskScheduler(own.get());
  EXPECT_EQ(piles(kind::serial), expected);
  EXPECT_EQ(piles(kind::ordered), expected_piles());
  EXPECT_EQ(wall(kind::ordered), expected_wall());
  btSetTaskScheduler(btGetSequentialTaskScheduler());  // before its threads end
}

// btCollisionDispatcherMt lines up new manifolds by the thread that made them, so that no two runs are alike, with any threads.
TEST_F(bullet, what_falls_in_another_order_still_comes_to_rest) {
  nopal::pool pool{{.workers = 3, .schedule = nopal::schedule::steal_at_random}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  scene s{kind::parallel};
  fill(s);
  std::vector<btVector3> before;
  for (auto const& b : s.bodies()) before.push_back(b->getWorldTransform().getOrigin());
  s.step(3 * steps);
  for (std::size_t k = 1; k < before.size(); ++k) {
    btRigidBody const& b = *s.bodies()[k];
    btVector3 const at = b.getWorldTransform().getOrigin(), moved = at - before[k];
    ASSERT_TRUE(std::isfinite(at.length2()) && std::isfinite(b.getLinearVelocity().length2())) << k;
    EXPECT_GT(at.y(), 0) << k;
    if (before[k].y() > 50) continue;  // a flyer
    EXPECT_LT(at.y(), before[k].y() + 0.5f) << k;
    if (b.getCollisionShape()->getShapeType() == SPHERE_SHAPE_PROXYTYPE) continue;  // it may roll on
    EXPECT_LT(std::hypot(moved.x(), moved.z()), 6) << k;
  }
}

// Worlds at once, whose loops fork on the same workers, from all that may step one, a thread whose number Bullet's dispatchers have no place
// for among them. They are made by one thread: Bullet counts bodies in a plain global variable.
TEST_F(bullet, nests_in_all_that_runs_on_the_pool) {
  auto const make = [] {
    std::vector<std::unique_ptr<scene>> all;
    for (int k = 0; k < test::places; ++k) fill(*all.emplace_back(std::make_unique<scene>()), k);
    return all;
  };
  auto const step = [](scene& s) { s.step(steps / 3); };
  auto const alone = make();
  for (auto const& s : alone) step(*s);
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  auto const all = make();
  test::at_once(pool, [&](int k) { step(*all[static_cast<std::size_t>(k)]); });
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k]->bytes(), alone[k]->bytes()) << k;
}

TEST_F(bullet, rays_in_a_batch_hit_the_same) {
  struct rays final : btIParallelForBody {
    btCollisionWorld const& world;
    std::vector<std::pair<int, btScalar>>& hits;
    rays(btCollisionWorld const& w, std::vector<std::pair<int, btScalar>>& h) : world{w}, hits{h} {}
    void forLoop(int first, int last) const override {
      for (int k = first; k < last; ++k) {
        btVector3 const from{btScalar(k % 100), 20, btScalar(k / 100) / 2}, to{from.x() + 1, -5, from.z()};
        btCollisionWorld::ClosestRayResultCallback hit{from, to};
        world.rayTest(from, to, hit);
        hits[static_cast<std::size_t>(k)] = {hit.hasHit() ? hit.m_collisionObject->getWorldArrayIndex() : -1, hit.m_closestHitFraction};
      }
    }
  };
  scene s;
  fill(s);
  s.step(10);
  std::vector<std::pair<int, btScalar>> expected(5000), found(5000);
  btParallelFor(0, 5000, 40, rays{s.world(), expected});
  nopal::pool pool{{.workers = 3, .schedule = nopal::schedule::steal_at_random}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  btParallelFor(0, 5000, 40, rays{s.world(), found});
  EXPECT_EQ(found, expected);
}

}  // namespace
