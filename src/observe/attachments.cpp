#include "observe/attachments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "observe/observers.hpp"
#include "scheduler/option_checks.hpp"

namespace nopal::inline NOPAL_ABI::core {

attachment::~attachment() = default;

static void require(std::string_view companion_name, bool asked, std::string const& option) {
  if (!asked || std::ranges::any_of(companions(), [&](companion const* c) { return c->name == companion_name; })) return;
  reject(option + " needs nopal's companion " + std::string{companion_name} + ", and this program is linked without it; link nopal::nopal");
}

attachments::attachments(pool_options const& o) : events_{o.experimental.events} {
  require("simulation", !o.experimental.simulate.empty(), "simulate = \"" + o.experimental.simulate + "\"");
  require("simulation", o.experimental.schedule != schedule::free, "a schedule that is not free");
  require("trace", !o.trace.empty(), "trace = \"" + o.trace + "\"");
  for (companion const* const c : companions()) {
    if (c->attach == nullptr) continue;
    std::unique_ptr<attachment> one = c->attach(o);
    if (one == nullptr) continue;
    if (!machine_) machine_ = one->machine();
    if (events_ == nullptr) events_ = one->events();
    all_.push_back(std::move(one));
  }
  if (machine_ && events_ != nullptr) {
    reject(
        "a simulated machine and an event source, of which a companion brings one: events do not come in the machine's time; switch one "
        "off");
  }
  if (!machine_ && events_ == nullptr) events_ = named_events();
}

std::unique_ptr<observer> attachments::make(pool_site const& site) const {
  std::vector<std::unique_ptr<observer>> all;
  for (auto const& one : all_) {
    if (auto its = one->watch(site); its != nullptr) all.push_back(std::move(its));
  }
  add_named_observers(all, site.pool);
  return as_one(std::move(all));
}

}  // namespace nopal::core
