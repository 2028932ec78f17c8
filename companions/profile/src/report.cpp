#include "profile/src/report.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/profile/not_kept.hpp"
#include "nopal/profile/totals.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The name of the function. GCC's name of the one in which a coroutine continues, `void f(f(int)::_Z1fi.Frame*)`, contains the coroutine's.
std::string function_of(std::source_location const& place) {
  std::string_view const name = place.function_name();
  if (name.ends_with(".Frame*)")) {
    std::size_t const from = name.find('(');
    std::size_t const to = name.rfind("::");
    if (from != name.npos && to != name.npos && from < to) return std::string{name.substr(from + 1, to - from - 1)};
  }
  return std::string{name};
}

profile_site site_of(site_id site) {
  profile_site s;
  if (site == site_of_region) {
    s.function = "(the region itself)";
  } else if (site == site_of_jobs) {
    s.function = "(jobs)";
  } else if (site == site_unknown) {
    s.function = "(elsewhere)";
  } else {
    std::source_location const place = place_of(site);
    s.function = function_of(place);
    s.file = place.file_name();
    s.line = place.line();
  }
  return s;
}

}  // namespace

// Merges the sites of one line: a template, or a function of a header, has one in each file that compiles it.
profile_report report_of(procedure const& region) {
  double const unit = region.in.in_calls ? 1 : ticks_per_nanosecond();
  auto const in_units = [&](std::uint64_t amount) { return static_cast<double>(amount) / unit; };
  profile_report r;
  r.unit = region.in.in_calls ? profile_unit::calls : profile_unit::time;
  r.span = in_units(region.at.span);
  r.burden = in_units(region.in.burden);
  r.burdened_span = in_units(region.at.burdened);
  r.not_kept = times_out_of_memory();
  std::vector<site_totals> const totals = totals_of(region.in.region);
  std::vector<std::uint64_t> span(totals.size());
  for (path::part const p : region.at.longest.parts()) {
    if (p.site >= span.size()) span.resize(p.site + 1);
    span[p.site] += p.amount;
  }
  std::uint64_t work = 0;
  std::uint64_t work_there = 0;  // at the asked place
  bool was_there = false;
  for (site_id s = 0; s < totals.size(); ++s) {
    if (totals[s].procedures == 0 && totals[s].work == 0) continue;
    work += totals[s].work;
    if (region.in.asks != nullptr && is_asked(*region.in.asks, s)) {
      was_there = true;
      work_there += totals[s].work;
    }
    profile_site here = site_of(s);
    auto const same = std::find_if(r.sites.begin(), r.sites.end(), [&](profile_site const& other) {
      return other.function == here.function && other.file == here.file && other.line == here.line;
    });
    profile_site& it = same != r.sites.end() ? *same : r.sites.emplace_back(std::move(here));
    it.procedures += totals[s].procedures;
    it.work += in_units(totals[s].work);
    it.span += in_units(span[s]);
  }
  r.work = in_units(work);
  if (asked_place const* const asked = region.in.asks; asked != nullptr && was_there) {
    r.asked = asked->file + ':' + std::to_string(asked->line);
    r.free_work = in_units(work - work_there);
    r.free_span = in_units(region.at.if_free);
    r.serial_span = region.series_known ? in_units(region.series) : std::numeric_limits<double>::quiet_NaN();
  }
  std::sort(r.sites.begin(), r.sites.end(), [](profile_site const& a, profile_site const& b) {
    return a.work != b.work ? a.work > b.work : std::tie(a.file, a.line, a.function) < std::tie(b.file, b.line, b.function);
  });
  return r;
}

}  // namespace nopal::core
