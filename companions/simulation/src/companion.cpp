// Attaches a controlled schedule or a simulated machine to a new pool.

#include "observe/companion.hpp"

#include <string>
#include <utility>

#include "nopal/core/scheduler/blocking_threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "scheduler/option_checks.hpp"
#include "simulation/src/controlled_schedule.hpp"
#include "simulation/src/report.hpp"
#include "simulation/src/simulation.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

std::unique_ptr<observer> simulate(pool_site const& s) {
  simulation_costs const costs = simulation_costs::from_environment();
  check_report(costs);
  simulation::hands h;
  h.ask = [&pool = s.pool](unsigned i) {
    pool.workers[i]->work.request();
    pool.workers[i]->ready.request();
  };
  h.helpers = [&pool = s.pool] { return pool.blocking.all_idle(); };
  return std::make_unique<simulation>(costs, s.machine, s.where, s.cpus.cpus, std::move(h));
}

class chosen final : public attachment {
 public:
  explicit chosen(schedule_choice c) : choice_{std::move(c)} {}

  std::optional<topology> machine() const override {
    if (choice_.machine.empty()) return {};
    return topology::made_up(choice_.machine);
  }
  std::unique_ptr<observer> watch(pool_site const& s) const override {
    begin_schedule_log();  // also if nothing will be logged: a file that cannot be written is reported in any case
    if (choice_.how != schedule::free) return std::make_unique<controlled_schedule>(choice_, static_cast<unsigned>(s.where.size()), s.pool);
    return choice_.machine.empty() ? nullptr : simulate(s);
  }

 private:
  schedule_choice const choice_;
};

std::unique_ptr<attachment> attach_simulation(pool_options const& o) {
  schedule_choice choice{.how = o.experimental.schedule, .seed = o.experimental.seed};
  choice.machine = o.experimental.simulate;
  if (choice.how == schedule::free && choice.machine.empty()) choice = schedule_choice::from_environment();
  std::string const simulated = "simulate = \"" + choice.machine + "\"";
  if (!choice.machine.empty() && o.experimental.events != nullptr) {
    reject(simulated + " and an event source: its events come in the machine's time; leave one of them at its default");
  }
  if (choice.how != schedule::free && !choice.machine.empty()) {
    reject(simulated + " and a schedule that is not free: a simulated machine has its own; leave one of them at its default");
  }
  return std::make_unique<chosen>(std::move(choice));
}

}  // namespace

extern companion const simulation_companion;
companion const simulation_companion{.name = "simulation", .attach = attach_simulation, .names = nullptr};

}  // namespace nopal::core
