#pragma once

// Worlds of Bullet in which things fall: for the test and for the times.

#include <btBulletDynamicsCommon.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcherMt.h>
#include <BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolverMt.h>
#include <BulletDynamics/Dynamics/btDiscreteDynamicsWorldMt.h>

#include "ordered_dispatcher.hpp"

namespace test {

/// A world made for the task scheduler that Bullet has when it is made.
class scene {
 public:
  enum class dispatcher { serial, parallel, ordered };

  /// `large_islands`: whether islands of many contacts are solved by a parallel solver, each for itself.
  explicit scene(dispatcher kind = dispatcher::ordered, bool large_islands = false)
      : dispatcher_{make(kind)}, solvers_{btGetTaskScheduler()->getNumThreads()} {
    if (large_islands) large_ = std::make_unique<btSequentialImpulseConstraintSolverMt>();
    world_ = std::make_unique<btDiscreteDynamicsWorldMt>(dispatcher_.get(), &broadphase_, &solvers_, large_.get(), &configuration_);
    world_->setGravity({0, -10, 0});
    add(shape<btBoxShape>(btVector3{500, 1, 500}), 0, {0, -1, 0});
  }
  scene(scene const&) = delete;
  scene& operator=(scene const&) = delete;
  ~scene() {
    for (auto const& j : joints_) world_->removeConstraint(j.get());
    for (auto const& b : bodies_) world_->removeRigidBody(b.get());
  }

  btDiscreteDynamicsWorldMt& world() { return *world_; }
  std::vector<std::unique_ptr<btRigidBody>> const& bodies() const { return bodies_; }
  void step(int times = 1) {
    for (int k = 0; k < times; ++k) world_->stepSimulation(btScalar(1) / 60, 0, btScalar(1) / 60);
  }

  /// A pyramid of boxes, `height` at its foot, and a ball that falls on it.
  void add_pyramid(btVector3 const& at, int height) {
    btCollisionShape* const box = shape<btBoxShape>(btVector3{0.5f, 0.5f, 0.5f});
    for (int row = 0; row < height; ++row) {
      for (int k = 0; k < height - row; ++k) {
        add(box, 1, at + btVector3{btScalar(k) + btScalar(row) / 2 - btScalar(height) / 2, btScalar(row) + 0.5f, 0});
      }
    }
    add(shape<btSphereShape>(btScalar(0.7)), 3, at + btVector3{0.1f, btScalar(height) + 2, 0.1f});
  }

  /// A wall of boxes, and a heavy ball that flies into it.
  void add_wall(btVector3 const& at, int width, int height) {
    btCollisionShape* const box = shape<btBoxShape>(btVector3{0.5f, 0.25f, 0.25f});
    for (int row = 0; row < height; ++row) {
      for (int k = 0; k < width; ++k) {
        add(box, 1, at + btVector3{btScalar(k) + btScalar(row % 2) / 2 - btScalar(width) / 2, btScalar(row) / 2 + 0.25f, 0});
      }
    }
    btRigidBody& ball = add(shape<btSphereShape>(btScalar(1)), 40, at + btVector3{0, btScalar(height) / 4, 12});
    ball.setLinearVelocity({0, 2, -20});
  }

  /// A doll of nine capsules, with joints: hips and shoulders in cones, elbows and knees as hinges.
  void add_doll(btVector3 const& at) {
    btCollisionShape* const trunk = shape<btCapsuleShape>(btScalar(0.2), btScalar(0.5));
    btCollisionShape* const limb = shape<btCapsuleShape>(btScalar(0.08), btScalar(0.3));
    btRigidBody& body = add(trunk, 10, at);
    for (btScalar const side : {btScalar(-1), btScalar(1)}) {
      for (btScalar const end : {btScalar(-1), btScalar(1)}) {
        btVector3 const joint{side * btScalar(0.15), end * btScalar(0.5), 0}, down{side * btScalar(0.1), end * btScalar(0.3), 0};
        btRigidBody& upper = add(limb, 1, at + joint + down);
        btRigidBody& lower = add(limb, 1, at + joint + down * 3);
        auto cone = std::make_unique<btConeTwistConstraint>(body, upper, frame(joint), frame(-down));
        cone->setLimit(btScalar(0.8), btScalar(0.8), btScalar(0.3));
        keep(std::move(cone));
        auto hinge = std::make_unique<btHingeConstraint>(upper, lower, down, -down, btVector3{1, 0, 0}, btVector3{1, 0, 0});
        hinge->setLimit(btScalar(-1.5), btScalar(1.5));
        keep(std::move(hinge));
      }
    }
  }

  /// One that touches nothing, and turns.
  void add_flyer(btVector3 const& at) {
    btRigidBody& b = add(shape<btBoxShape>(btVector3{0.3f, 0.2f, 0.1f}), 1, at);
    b.setLinearVelocity({at.z() / 50, 1, -at.x() / 50});
    b.setAngularVelocity({1, at.x(), at.z()});
    b.setDamping(btScalar(0.01), btScalar(0.02));
  }

  /// Where everything is and how it moves, bit for bit.
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all;
    auto const put = [&](btVector3 const& v) {
      btScalar const three[] = {v.x(), v.y(), v.z()};
      auto const at = all.size();
      all.resize(at + sizeof three);
      std::memcpy(all.data() + at, three, sizeof three);
    };
    for (auto const& b : bodies_) {
      btTransform const& t = b->getWorldTransform();
      for (int row = 0; row < 3; ++row) put(t.getBasis()[row]);
      put(t.getOrigin());
      put(b->getLinearVelocity());
      put(b->getAngularVelocity());
    }
    return all;
  }

 private:
  std::unique_ptr<btCollisionDispatcher> make(dispatcher kind) {
    if (kind == dispatcher::serial) return std::make_unique<btCollisionDispatcher>(&configuration_);
    if (kind == dispatcher::parallel) return std::make_unique<btCollisionDispatcherMt>(&configuration_, 40);
    return std::make_unique<nopal::ordered_dispatcher>(&configuration_, 40);
  }
  template <class S, class... A>
  S* shape(A const&... a) {
    auto made = std::make_unique<S>(a...);
    S* const s = made.get();
    shapes_.push_back(std::move(made));
    return s;
  }
  static btTransform frame(btVector3 const& at) { return btTransform{btQuaternion{0, 0, SIMD_HALF_PI}, at}; }
  btRigidBody& add(btCollisionShape* of, btScalar mass, btVector3 const& at) {
    btVector3 inertia{0, 0, 0};
    if (mass > 0) of->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info{mass, nullptr, of, inertia};
    info.m_startWorldTransform.setOrigin(at);
    auto b = std::make_unique<btRigidBody>(info);
    if (mass > 0) b->setActivationState(DISABLE_DEACTIVATION);  // so that each step costs something
    world_->addRigidBody(b.get());
    bodies_.push_back(std::move(b));
    return *bodies_.back();
  }
  void keep(std::unique_ptr<btTypedConstraint> j) {
    world_->addConstraint(j.get(), true);
    joints_.push_back(std::move(j));
  }

  btDefaultCollisionConfiguration configuration_;
  std::unique_ptr<btCollisionDispatcher> const dispatcher_;
  btDbvtBroadphase broadphase_;
  btConstraintSolverPoolMt solvers_;
  std::unique_ptr<btSequentialImpulseConstraintSolverMt> large_;
  std::unique_ptr<btDiscreteDynamicsWorldMt> world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btTypedConstraint>> joints_;
};

}  // namespace test
