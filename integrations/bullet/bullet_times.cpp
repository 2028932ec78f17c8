// How long ten steps of worlds take: Bullet's own threads beside nopal; one world, and several at once.

#include "nopal_bullet.hpp"

#include <functional>
#include <memory>
#include <vector>

#include <nopal/nopal.hpp>

#include "../times.hpp"
#include "scene.hpp"

namespace {

using test::scene;
using worlds = std::vector<std::unique_ptr<scene>>;

constexpr int steps = 10;

/// The time of so many steps of worlds that have come to rest on each other. All schedulers have the same to do: their steps are the same.
double time_of(btITaskScheduler* scheduler, std::function<worlds()> const& make, std::function<void(worlds&)> const& step) {
  btSetTaskScheduler(scheduler);
  worlds all = make();
  for (auto& w : all) w->step(30);
  return test::median_ms([&] { step(all); });
}

worlds several(int n, bool large_islands, std::function<void(scene&)> const& fill) {
  worlds all;
  for (int k = 0; k < n; ++k) fill(*all.emplace_back(std::make_unique<scene>(scene::dispatcher::ordered, large_islands)));
  return all;
}
void pyramids(scene& s) {
  for (int k = 0; k < 100; ++k) s.add_pyramid({btScalar(k % 10) * 14, 0, btScalar(k / 10) * 6}, 6);
}
void wall(scene& s) { s.add_wall({0, 0, 0}, 40, 30); }
void dolls(scene& s) {
  for (int k = 0; k < 300; ++k) s.add_doll({btScalar(k % 15) * 3, 2 + btScalar(k % 3), btScalar(k / 15) * 3});
}
void few_pyramids(scene& s) {
  for (int k = 0; k < 25; ++k) s.add_pyramid({btScalar(k % 5) * 14, 0, btScalar(k / 5) * 6}, 6);
}

}  // namespace

int main(int argc, char** argv) {
  unsigned const workers = test::workers_of(argc, argv);
  btITaskScheduler* const serial = btGetSequentialTaskScheduler();
  btSetTaskScheduler(serial);
  std::unique_ptr<btITaskScheduler> const its{btCreateDefaultTaskScheduler()};
  its->setNumThreads(static_cast<int>(workers));
  nopal::pool pool{{.workers = workers}};
  nopal::bullet_scheduler ours{pool};

  test::print_head(workers, "Bullet's");
  auto const in_turn = [](worlds& all) {
    for (auto& w : all) w->step(steps);
  };
  auto const row = [&](char const* what, std::function<worlds()> const& make, std::function<void(worlds&)> const& by_nopal) {
    test::print(what, time_of(serial, make, in_turn), time_of(its.get(), make, in_turn), time_of(&ours, make, by_nopal));
  };
  row("100 pyramids, 2200 bodies", [] { return several(1, false, pyramids); }, in_turn);
  row("a wall of 1200 bricks, one island", [] { return several(1, true, wall); }, in_turn);
  row("300 dolls, 2700 bodies", [] { return several(1, false, dolls); }, in_turn);
  // Bullet's own threads work for one loop at a time, of the program's first thread: so worlds step one after the other.
  row(
      "four worlds of 25 pyramids at once", [] { return several(4, false, few_pyramids); },
      [&](worlds& all) {
        pool.run([&] {
          nopal::parallel_for(
              0, static_cast<int>(all.size()), [&](int k) { all[static_cast<std::size_t>(k)]->step(steps); }, nopal::grain{1});
        });
      });
  return 0;
}
