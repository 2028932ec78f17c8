#pragma once

// Checks that each order of a protocol is needed, and that the models detect a weaker one. Every place in its source that gives an order is
// made one step weaker, one after the other, and the models are explored with it: one of them must fail. An order that none of them catches
// is listed with its reason, or is weakened for good.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../scale.hpp"
#include "explorer.hpp"

namespace model {

/// One program, and the limits of its search.
struct scenario {
  std::string name;
  std::function<void(program&)> body;
  int preemptions = -1;
  int size = 1;  ///< runs if NOPAL_MODEL_SIZE is at least this
  int spins = 12;
};

/// A weakening that no model catches.
struct survivor {
  std::string what;
  std::string reason;
};

/// 1, or NOPAL_MODEL_SIZE: 2 is minutes, 3 is hours.
inline int size_wanted() {
  char const* const s = std::getenv("NOPAL_MODEL_SIZE");
  return s == nullptr ? 1 : std::atoi(s);
}

/// Sanitizers and emulators make a search slow and find nothing: one thread does all of it.
#define NOPAL_MODEL_SKIP_IF_SLOW() \
  if (test::sanitized) GTEST_SKIP() << "a model is searched without sanitizers"

/// "pop_slow" of the compiler's full name.
inline std::string function_of(site const& s) {
  std::string plain;
  int depth = 0;
  for (char const* c = s.function; *c != 0; ++c) {
    if (*c == '<') ++depth;
    if (depth == 0) plain += *c;
    if (*c == '>') --depth;
  }
  plain.resize(std::min(plain.find('('), plain.size()));
  auto const begin = plain.find_last_of(": *&");
  return begin == plain.npos ? plain : plain.substr(begin + 1);
}

/// A name for the site that does not change when lines move: function, action, order, and which of several.
inline std::string key_of(site const& s, std::vector<site> const& all) {
  int before = 0;
  std::string const function = function_of(s);
  for (site const& o : all) {
    if (o.what == s.what && o.order == s.order && function_of(o) == function && std::strcmp(o.file, s.file) == 0 &&
        (o.line < s.line || (o.line == s.line && o.column < s.column))) {
      ++before;
    }
  }
  std::string key = function + ": " + name(s.what);
  if (s.what < action::fence) key += std::string{" "} + name(s.order);
  if (before > 0) key += " #" + std::to_string(before + 1);
  return key;
}

inline config limits_of(scenario const& s) {
  config c;
  c.preemptions = s.preemptions;
  c.spins = s.spins;
  return c;
}

/// Explores one scenario whole; prints a row of docs/models.md.
inline void explore_and_report(char const* protocol, scenario const& s) {
  if (s.size > size_wanted()) GTEST_SKIP() << "runs with NOPAL_MODEL_SIZE=" << s.size;
  result const r = explore(limits_of(s), s.body);
  EXPECT_TRUE(r.ok()) << r.report();
  EXPECT_TRUE(r.complete || s.preemptions >= 0 || r.cut > 0) << r.report();
  std::string bound = s.preemptions < 0 ? "all" : "at most " + std::to_string(s.preemptions) + " preemptions";
  if (r.cut > 0) bound += ", at most " + std::to_string(s.spins) + " rounds of waiting a thread";
  std::printf("| %s | %s | %s | %llu | %llu | %d |\n", protocol, s.name.c_str(), bound.c_str(),
              static_cast<unsigned long long>(r.executions), static_cast<unsigned long long>(r.redundant), r.deepest);
}

/// Weakens each order in the files named, by the ends of their paths, in turn. A file without an order that ran is a failure. Those in
/// `survivors` may survive; with NOPAL_MODEL_SIZE >= 2 they must, or the list is out of date.
inline void weaken_each(std::vector<scenario> const& scenarios, std::vector<std::string> const& files,
                        std::vector<survivor> const& survivors) {
  std::vector<site> all;
  std::map<std::string, std::vector<site>> of_scenario;
  std::set<std::string> may_run_more;
  for (scenario const& s : scenarios) {
    if (s.size > size_wanted()) continue;
    config c = limits_of(s);
    c.most_executions = 20'000;  // most come by everywhere then
    result const r = explore(c, s.body);
    ASSERT_TRUE(r.ok()) << s.name << ": " << r.report();
    if (r.executions + r.redundant + r.cut >= c.most_executions) may_run_more.insert(s.name);
    for (site const& x : r.sites) {
      if (std::none_of(files.begin(), files.end(), [&](std::string const& f) { return std::string_view{x.file}.ends_with(f); })) continue;
      of_scenario[s.name].push_back(x);
      auto const same = [&](site const& o) { return o.same(x); };
      auto const known = std::find_if(all.begin(), all.end(), same);
      if (known == all.end()) {
        all.push_back(x);
      } else if (known->store_before == nullptr) {
        known->store_before = x.store_before;
      }
    }
  }
  for (std::string const& f : files) {
    bool const ran = std::any_of(all.begin(), all.end(), [&](site const& x) { return std::string_view{x.file}.ends_with(f); });
    EXPECT_TRUE(ran) << "no order in " << f << " has run: is that still the file's name?";
  }
  std::sort(all.begin(), all.end(), [](site const& a, site const& b) {
    return std::tuple{std::string_view{a.file}, a.line, a.column, a.what} < std::tuple{std::string_view{b.file}, b.line, b.column, b.what};
  });
  int planted = 0, caught = 0;
  for (site const& x : all) {
    for (weakening const& w : weakenings(x)) {
      std::string const key = key_of(x, all) + (w.removed ? " removed" : std::string{" -> "} + name(w.to));
      auto const known = std::find_if(survivors.begin(), survivors.end(), [&](survivor const& s) { return s.what == key; });
      if (known != survivors.end() && size_wanted() < 2) {
        std::printf("  %-70s survives: %s\n", key.c_str(), known->reason.c_str());
        continue;
      }
      ++planted;
      std::string by, how;
      for (scenario const& s : scenarios) {
        if (s.size > size_wanted()) continue;
        auto const& its = of_scenario[s.name];
        bool const ran = std::any_of(its.begin(), its.end(), [&](site const& o) { return o.same(x); });
        if (!ran && !may_run_more.contains(s.name)) continue;
        config c = limits_of(s);
        c.weakened = &w;
        result const r = explore(c, s.body);
        if (!r.ok()) {
          by = s.name;
          how = r.failure;
          break;
        }
      }
      if (!by.empty()) ++caught;
      std::printf("  %-70s %s%s%s\n", key.c_str(), by.empty() ? "NOT CAUGHT" : by.c_str(), by.empty() ? "" : ": ", how.c_str());
      std::fflush(stdout);
      EXPECT_EQ(by.empty(), known != survivors.end()) << w.text() << " (" << key << ")";
    }
  }
  std::printf("  %d weaker orders planted, %d caught\n", planted, caught);
  for (survivor const& s : survivors) {
    bool found = false;
    for (site const& x : all)
      for (weakening const& w : weakenings(x))
        found = found || s.what == key_of(x, all) + (w.removed ? " removed" : std::string{" -> "} + name(w.to));
    EXPECT_TRUE(found) << "no such order any more: " << s.what;
  }
}

}  // namespace model
