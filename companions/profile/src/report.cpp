#include "profile/src/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

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

// ---- Numbers and names in words.

/// As printf; at most 511 bytes. Throws std::bad_alloc.
[[gnu::format(printf, 1, 2)]] std::string printed(char const* format, ...) {
  char text[512];
  std::va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

/// An amount of work: "1.250 ms", or a number of calls. Throws std::bad_alloc.
std::string amount_in_words(profile_unit unit, double amount) {
  if (unit == profile_unit::calls) return printed("%.0f", amount);
  if (amount >= 1e9) return printed("%.3f s", amount / 1e9);
  if (amount >= 1e6) return printed("%.3f ms", amount / 1e6);
  if (amount >= 1e3) return printed("%.3f us", amount / 1e3);
  return printed("%.0f ns", amount);
}

/// As a string of JSON. Throws std::bad_alloc.
std::string quoted(std::string const& text) {
  std::string q{"\""};
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      q += '\\';
      q += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      q += printed("\\u%04x", static_cast<unsigned>(c));
    } else {
      q += c;
    }
  }
  return q += '"';
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

}  // namespace core

// ---- The report in words, and as JSON.

double profile_report::greatest_speedup(unsigned workers) const noexcept {
  return static_cast<double>(workers) < parallelism() ? static_cast<double>(workers) : parallelism();
}

double profile_report::expected_speedup(unsigned workers) const noexcept {
  constexpr double span_coefficient = 1.7;
  double const time = work / static_cast<double>(workers) + span_coefficient * burdened_span;
  return time > 0 ? work / time : 1;
}

std::string profile_report::table() const {
  using core::printed;
  auto const amount = [this](double a) { return core::amount_in_words(unit, a); };
  std::string t = printed("%-24s %14s\n%-24s %14s\n%-24s %14.2f\n", "work", amount(work).c_str(), "span", amount(span).c_str(),
                          "parallelism", parallelism());
  t += printed("%-24s %14s\n%-24s %14s\n%-24s %14.2f\n", "burden", amount(burden).c_str(), "burdened span", amount(burdened_span).c_str(),
               "burdened parallelism", burdened_parallelism());
  if (not_kept != 0)
    t += printed("there was no memory for %llu parts: the numbers are too small\n", static_cast<unsigned long long>(not_kept));
  t += "\nspeed-up on            2       4       8      16      32      64     128 workers\n";
  auto const row = [&](char const* name, auto speedup) {
    t += printed("%-16s", name);
    for (unsigned p = 2; p <= 128; p *= 2) t += printed("%8.2f", speedup(p));
    t += '\n';
  };
  row("at most", [this](unsigned p) { return greatest_speedup(p); });
  row("to be expected", [this](unsigned p) { return expected_speedup(p); });
  if (!asked.empty()) {
    t += "\nwhat if what is forked at " + asked;
    t += printed("\n%-24s parallelism %.2f, span %s\n", "took no time", free_span > 0 ? free_work / free_span : 1,
                 amount(free_span).c_str());
    if (std::isnan(serial_span)) {
      t += printed("%-24s is not known: a fiber or a future was waited for\n", "were serial");
    } else {
      t += printed("%-24s parallelism %.2f, span %s\n", "were serial", serial_span > 0 ? work / serial_span : 1,
                   amount(serial_span).c_str());
    }
  }
  t += printed("\n%14s %8s %14s %8s %12s  forked in\n", "work", "", "on the span", "", "procedures");
  for (profile_site const& s : sites) {
    double const of_work = work > 0 ? 100 * s.work / work : 0;
    double const of_span = span > 0 ? 100 * s.span / span : 0;
    t += printed("%14s %7.1f%% %14s %7.1f%% %12llu  ", amount(s.work).c_str(), of_work, amount(s.span).c_str(), of_span,
                 static_cast<unsigned long long>(s.procedures));
    t += s.function;
    if (!s.file.empty()) t += ", " + s.file.substr(s.file.rfind('/') + 1) + ':' + std::to_string(s.line);
    t += '\n';
  }
  return t;
}

std::string profile_report::json() const {
  using core::printed;
  std::string j = printed("{\n  \"unit\": \"%s\",\n  \"work\": %.17g,\n  \"span\": %.17g,\n  \"burden\": %.17g,\n",
                          unit == profile_unit::calls ? "calls" : "nanoseconds", work, span, burden);
  j += printed("  \"burdened_span\": %.17g,\n  \"parallelism\": %.17g,\n  \"burdened_parallelism\": %.17g,\n  \"not_kept\": %llu,\n",
               burdened_span, parallelism(), burdened_parallelism(), static_cast<unsigned long long>(not_kept));
  if (!asked.empty()) {
    j += "  \"what_if\": {\"place\": " + core::quoted(asked);
    j += printed(", \"free_work\": %.17g, \"free_span\": %.17g, \"serial_span\": ", free_work, free_span);
    j += std::isnan(serial_span) ? "null},\n" : printed("%.17g},\n", serial_span);
  }
  j += "  \"sites\": [";
  char const* between = "\n";
  for (profile_site const& s : sites) {
    j += between;
    j += "    {\"function\": " + core::quoted(s.function) + ", \"file\": " + core::quoted(s.file);
    j += printed(", \"line\": %u, \"procedures\": %llu, \"work\": %.17g, \"span\": %.17g}", s.line,
                 static_cast<unsigned long long>(s.procedures), s.work, s.span);
    between = ",\n";
  }
  return j += "\n  ]\n}\n";
}

}  // namespace nopal
