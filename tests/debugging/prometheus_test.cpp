// prometheus(): read by a parser of the text format, against stats().

#include "nopal/prometheus.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../fib.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"

namespace {

using labels = std::map<std::string, std::string>;

struct family {
  std::string help;
  std::string type;
  std::map<labels, double> samples;
};

/// What a scraper reads from the text. Throws std::runtime_error, with the line, if the format does not allow it.
class parsed {
 public:
  explicit parsed(std::string const& text) {
    if (text.empty() || text.back() != '\n') throw std::runtime_error{"the last line has no end"};
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) take(line);
  }

  std::map<std::string, family> families;

 private:
  static bool is_name(std::string const& s) {
    return !s.empty() && s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789") == s.npos &&
           (s[0] < '0' || s[0] > '9');
  }

  void take(std::string const& line) {
    bool const is_help = line.starts_with("# HELP ");
    if (is_help || line.starts_with("# TYPE ")) {
      std::size_t const end = line.find(' ', 7);
      std::string const name = line.substr(7, end - 7);
      if (end == line.npos || !is_name(name)) throw std::runtime_error{line};
      if (is_help && !families.emplace(name, family{}).second) throw std::runtime_error{"a second time: " + line};
      family& f = families.at(name);
      if (!f.samples.empty() || !(is_help ? f.help : f.type).empty()) throw std::runtime_error{"too late: " + line};
      (is_help ? f.help : f.type) = line.substr(end + 1);
      now_ = name;
    } else {
      sample(line);
    }
  }

  void sample(std::string const& line) {
    std::size_t at = line.find('{');
    std::string const name = line.substr(0, at);
    if (at == line.npos || name != now_) throw std::runtime_error{"apart from its metric: " + line};
    labels of;
    while (line.at(at) != '}') {
      std::size_t const equals = line.find("=\"", ++at);
      std::string const label = line.substr(at, equals - at);
      if (equals == line.npos || !is_name(label)) throw std::runtime_error{line};
      std::string value;
      for (at = equals + 2; line.at(at) != '"'; ++at) {
        if (line[at] == '\\') {
          char const c = line.at(++at);
          if (c != 'n' && c != '\\' && c != '"') throw std::runtime_error{line};
          value += c == 'n' ? '\n' : c;
        } else {
          value += line[at];
        }
      }
      ++at;
      if (line.at(at) != ',' && line.at(at) != '}') throw std::runtime_error{line};
      if (!of.emplace(label, value).second) throw std::runtime_error{"a label twice: " + line};
    }
    std::size_t used = 0;
    std::string const number = line.substr(at + 2);
    if (line.at(at + 1) != ' ') throw std::runtime_error{line};
    double const value = std::stod(number, &used);
    if (used != number.size()) throw std::runtime_error{line};
    if (!families.at(name).samples.emplace(of, value).second) throw std::runtime_error{"a sample twice: " + line};
  }

  std::string now_;
};

/// The names, in the order of core::numbers_of_worker; and whether each only grows.
struct expected {
  std::string name;
  bool grows;
};
std::array const of_worker{
    expected{"steals", true},         expected{"steal_attempts", true},  expected{"suspensions", true},  expected{"serial_forks", true},
    expected{"stacks_live", false},   expected{"stacks_peak", false},    expected{"stack_pages", false}, expected{"unmaps", true},
    expected{"purges", true},         expected{"pages_returned", true},  expected{"sleeps", true},       expected{"wakeups", true},
    expected{"fibers_spawned", true}, expected{"fibers_finished", true}, expected{"switches", true},     expected{"pauses", true}};

double value(parsed const& p, std::string const& metric, labels const& of) { return p.families.at(metric).samples.at(of); }

void check(parsed const& p, nopal::stats const& s, std::string const& pool) {
  ASSERT_EQ(of_worker.size(), nopal::core::numbers_of_worker.size());
  for (std::size_t k = 0; k < of_worker.size(); ++k) {
    std::string const metric = "nopal_" + of_worker[k].name + (of_worker[k].grows ? "_total" : "");
    ASSERT_TRUE(p.families.contains(metric)) << metric;
    EXPECT_EQ(p.families.at(metric).type, of_worker[k].grows ? "counter" : "gauge") << metric;
    EXPECT_GT(p.families.at(metric).help.size(), 10u) << metric;
    for (std::size_t i = 0; i < s.per_worker.size(); ++i) {
      EXPECT_EQ(value(p, metric, {{"pool", pool}, {"worker", std::to_string(i)}}),
                static_cast<double>(s.per_worker[i].*nopal::core::numbers_of_worker[k]))
          << metric;
    }
  }
  labels const whole{{"pool", pool}};
  EXPECT_EQ(value(p, "nopal_pool_stacks_peak", whole), static_cast<double>(s.stacks_peak));
  EXPECT_EQ(value(p, "nopal_pool_stack_pages_peak", whole), static_cast<double>(s.stack_pages_peak));
  EXPECT_EQ(value(p, "nopal_pool_segment_bytes", whole), static_cast<double>(s.segment_bytes));
  EXPECT_EQ(value(p, "nopal_pool_segment_bytes_peak", whole), static_cast<double>(s.segment_bytes_peak));
  EXPECT_EQ(value(p, "nopal_pool_segment_bytes_free", whole), static_cast<double>(s.segment_bytes_free));
  EXPECT_EQ(value(p, "nopal_pool_lost_turns_total", whole), static_cast<double>(s.lost_turns));
}

nopal::stats after_some_work(unsigned workers) {
  nopal::pool pool{{.workers = workers}};
  pool.run([] {
    nopal::counter left;
    for (int k = 0; k < 20; ++k) {
      nopal::spawn(left, [] {
        nopal::yield();
        test::native::fib(8);
      });
    }
    nopal::wait_for(left);
  });
  return pool.stats();
}

TEST(prometheus, has_every_number_of_every_worker) {
  nopal::stats const s = after_some_work(3);
  parsed const p{nopal::prometheus(s, "mill")};
  check(p, s, "mill");
  EXPECT_EQ(p.families.size(), of_worker.size() + 6);
  EXPECT_EQ(p.families.at("nopal_steals_total").samples.size(), 3u);
  double spawned = 0;
  for (auto const& [of, number] : p.families.at("nopal_fibers_spawned_total").samples) spawned += number;
  EXPECT_EQ(spawned, 20.0);
}

TEST(prometheus, keeps_numbers_apart_that_differ) {
  nopal::stats s;
  std::uint64_t next = 1;
  for (auto const number : nopal::core::numbers_of_worker) s.*number = next++;
  s.per_worker.resize(2);
  for (nopal::worker_stats& w : s.per_worker) {
    for (auto const number : nopal::core::numbers_of_worker) w.*number = next++;
  }
  for (auto const number : {&nopal::stats::lost_turns, &nopal::stats::segment_bytes, &nopal::stats::segment_bytes_peak,
                            &nopal::stats::segment_bytes_free, &nopal::stats::stack_pages_peak}) {
    s.*number = next++;
  }
  check(parsed{nopal::prometheus(s)}, s, "nopal");
}

TEST(prometheus, names_each_metric_once_for_all_pools) {
  std::vector<nopal::named_stats> const pools{{"a", after_some_work(2)}, {"b", after_some_work(1)}};
  parsed const p{nopal::prometheus(pools)};
  for (nopal::named_stats const& one : pools) check(p, one.numbers, one.pool);
  EXPECT_EQ(p.families.at("nopal_steals_total").samples.size(), 3u);
}

TEST(prometheus, escapes_what_labels_must_not_hold) {
  std::string const strange = "a\"b\\c\nd";
  nopal::stats const s = after_some_work(1);
  check(parsed{nopal::prometheus(s, strange)}, s, strange);
}

}  // namespace
