#include "attachments.hpp"

#include <utility>

#include "nopal/core/scheduler/blocking_threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/schedules/controlled_schedule.hpp"
#include "nopal/core/simulation/simulation.hpp"
#include "nopal/core/trace/pool_trace.hpp"
#include "observe/observers.hpp"
#include "scheduler/option_checks.hpp"
#include "schedules/schedule_log.hpp"
#include "simulation/findings.hpp"

namespace nopal::inline NOPAL_ABI::core {

attachments::attachments(pool_options const& o) : choice_{.how = o.experimental.schedule, .seed = o.experimental.seed} {
  choice_.machine = o.experimental.simulate;
  if (choice_.how == schedule::free && choice_.machine.empty()) choice_ = schedule_choice::from_environment();
  if (!choice_.machine.empty() && o.experimental.events != nullptr) {
    reject("simulate = \"" + choice_.machine +
           "\" and an event source: its events come in the machine's time; leave one of them at its default");
  }
  if (choice_.how == schedule::free || choice_.machine.empty()) return;
  reject("simulate = \"" + choice_.machine +
         "\" and a schedule that is not free: a simulated machine has its own; leave one of them at its default");
}

topology attachments::machine(cpu_limits const& cpus) const {
  return choice_.machine.empty() ? topology::load(cpus.cpus) : topology::made_up(choice_.machine);
}

static std::unique_ptr<observer> simulate(pool_state& pool, attachments::site const& s) {
  simulation_costs const costs = simulation_costs::from_environment();
  check_report(costs);
  simulation::hands h;
  h.ask = [&pool](unsigned i) {
    pool.workers[i]->work.request();
    pool.workers[i]->ready.request();
  };
  h.helpers = [&pool] { return pool.blocking.all_idle(); };
  return std::make_unique<simulation>(costs, s.machine, s.where, s.cpus.cpus, std::move(h));
}

std::unique_ptr<observer> attachments::make(pool_options const& o, pool_state& pool, site const& s) const {
  std::vector<std::unique_ptr<observer>> all;
  auto const workers = static_cast<unsigned>(s.where.size());
  begin_schedule_log();  // also where nothing will be logged: whoever has named a file hears that it cannot be written
  if (choice_.how != schedule::free) all.push_back(std::make_unique<controlled_schedule>(choice_, workers));
  if (makes_up_machine()) all.push_back(simulate(pool, s));
  if (auto trace = pool_trace::make(o, workers); trace != nullptr) all.push_back(std::move(trace));
  add_named_observers(all, pool);
  return as_one(std::move(all));
}

}  // namespace nopal::core
