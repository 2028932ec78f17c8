#include "nopal/simulation_report.hpp"

#include <cstdio>
#include <iterator>

namespace nopal::inline NOPAL_ABI {

namespace {

template <class T>
std::string list(std::vector<T> const& all) {
  std::string text;
  for (T const& one : all) {
    if (!text.empty()) text += ',';
    text += std::to_string(one);
  }
  return text;
}

std::string number(char const* format, double n) {
  char text[64];
  int const length = std::snprintf(text, std::size(text), format, n);
  return {text, static_cast<std::size_t>(length)};
}

std::string milliseconds(std::chrono::nanoseconds t) { return number("%.3f ms", static_cast<double>(t.count()) / 1e6); }

}  // namespace

std::string to_json(simulation_report const& r) {
  std::string text = "{";
  auto const field = [&](char const* name, auto n) {
    text += '"';
    text += name;
    text += "\":";
    text += std::to_string(n);
    text += ',';
  };
  field("workers", r.workers);
  field("elapsed", r.elapsed.count());
  field("working", r.working.count());
  field("searching", r.searching.count());
  field("waking", r.waking.count());
  field("asleep", r.asleep.count());
  field("wakeups", r.wakeups);
  field("disturbed", r.disturbed.count());
  field("outside", r.outside.count());
  field("switches", r.switches);
  field("lost_turns", r.lost_turns);
  text += "\"efficiency\":";
  text += number("%.6g", r.efficiency());
  text += ",\"distances\":[";
  text += list(r.distances);
  text += "],\"steals\":[";
  text += list(r.steals);
  text += "]}";
  return text;
}

std::string to_text(simulation_report const& r) {
  std::string text = std::to_string(r.workers);
  auto const add = [&](char const* what, std::string const& value) {
    text += what;
    text += value;
  };
  add(" workers: T_P = ", milliseconds(r.elapsed));
  add(", work ", milliseconds(r.working));
  add(", ", number("%.2f", r.efficiency() * r.workers));
  add(" workers busy, efficiency ", number("%.3f", r.efficiency()));
  add("\n  searching ", milliseconds(r.searching));
  add(", waking ", milliseconds(r.waking));
  add(" in ", std::to_string(r.wakeups));
  add(" wake-ups, asleep ", milliseconds(r.asleep));
  text += ", summed over the workers\n  steals by distance:";
  for (std::size_t k = 0; k < r.steals.size(); ++k) {
    add(" ", std::to_string(r.distances[k]));
    add(": ", std::to_string(r.steals[k]));
  }
  add("\n  outside the pool ", milliseconds(r.outside));
  text += " of CPU time, which T_P leaves out\n";
  if (r.disturbed > r.working / 20) {
    add("  for ", milliseconds(r.disturbed));
    text += " other programs had the CPU: run it again on a quiet machine\n";
  }
  if (r.lost_turns == 0) return text;
  add("  ", std::to_string(r.lost_turns));
  text += " times a worker waited for another in a way that is not seen here (a lock, a flag): the times are not to be trusted\n";
  return text;
}

}  // namespace nopal
