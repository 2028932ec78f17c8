// One table says what each number is called and means; a number that it forgets does not compile.

#include "nopal/prometheus.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nopal::inline NOPAL_ABI {

namespace {

enum class kind : unsigned char { counter, gauge };

template <class Of>
struct metric {
  std::uint64_t Of::* number;
  kind what;
  std::string_view name;
  std::string_view help;
};

constexpr std::array of_worker{
    metric<worker_stats>{&worker_stats::steals, kind::counter, "steals", "Continuations, fibers and jobs taken from another worker."},
    metric<worker_stats>{&worker_stats::steal_attempts, kind::counter, "steal_attempts",
                         "Times that another worker was searched for work."},
    metric<worker_stats>{&worker_stats::suspensions, kind::counter, "suspensions",
                         "Tasks left at a join, and native stacks left at a wait."},
    metric<worker_stats>{&worker_stats::serial_forks, kind::counter, "serial_forks", "Forks that ran serially for want of memory."},
    metric<worker_stats>{&worker_stats::stacks_live, kind::gauge, "stacks_live",
                         "Native stacks mapped now, by the worker that mapped them."},
    metric<worker_stats>{&worker_stats::stacks_peak, kind::gauge, "stacks_peak", "The most native stacks at any time."},
    metric<worker_stats>{&worker_stats::stack_pages, kind::gauge, "stack_pages", "Pages of memory that the native stacks hold now."},
    metric<worker_stats>{&worker_stats::unmaps, kind::counter, "unmaps",
                         "Times that unused pages of a native stack went back to the system."},
    metric<worker_stats>{&worker_stats::purges, kind::counter, "purges", "Those of the unmaps that were of a free stack."},
    metric<worker_stats>{&worker_stats::pages_returned, kind::counter, "pages_returned", "Pages that all unmaps gave back."},
    metric<worker_stats>{&worker_stats::sleeps, kind::counter, "sleeps", "Times that the worker's thread went to sleep."},
    metric<worker_stats>{&worker_stats::wakeups, kind::counter, "wakeups", "Times that the worker's thread got up again."},
    metric<worker_stats>{&worker_stats::fibers_spawned, kind::counter, "fibers_spawned", "Fibers spawned by the worker."},
    metric<worker_stats>{&worker_stats::fibers_finished, kind::counter, "fibers_finished", "Fibers that ended on the worker."},
    metric<worker_stats>{&worker_stats::switches, kind::counter, "switches", "Native stacks left at a wait, and native stacks resumed."},
    metric<worker_stats>{&worker_stats::pauses, kind::counter, "pauses", "Pauses after a search that found nothing."},
};

constexpr std::array of_pool{
    metric<stats>{&stats::stacks_peak, kind::gauge, "stacks_peak", "The most native stacks of the pool at any time."},
    metric<stats>{&stats::stack_pages_peak, kind::gauge, "stack_pages_peak",
                  "The most pages that all native stacks have held at any time."},
    metric<stats>{&stats::segment_bytes, kind::gauge, "segment_bytes", "Bytes of the segments that frames of tasks lie in."},
    metric<stats>{&stats::segment_bytes_peak, kind::gauge, "segment_bytes_peak", "The most bytes of such segments at any time."},
    metric<stats>{&stats::segment_bytes_free, kind::gauge, "segment_bytes_free", "Bytes of free segments whose pages the pool keeps."},
    metric<stats>{&stats::lost_turns, kind::counter, "lost_turns", "Times that a controlled schedule was not kept."},
};

template <std::size_t N>
constexpr bool has(std::array<metric<worker_stats>, N> const& table, std::uint64_t worker_stats::* number) {
  for (auto const& m : table) {
    if (m.number == number) return true;
  }
  return false;
}

constexpr bool has_all() {
  for (auto const number : core::numbers_of_worker) {
    if (!has(of_worker, number)) return false;
  }
  return of_worker.size() == core::numbers_of_worker.size();
}
static_assert(has_all(), "each number of worker_stats is to have a name and a meaning here");
// The numbers that stats has beyond worker_stats and the list of workers, plus stacks_peak.
static_assert(sizeof(stats) == sizeof(worker_stats) + (of_pool.size() - 1) * sizeof(std::uint64_t) + sizeof(std::vector<worker_stats>),
              "each number of a pool is to have a name and a meaning here");

/// The value of a label: a backslash precedes what the format gives a meaning.
std::string escaped(std::string_view s) {
  std::string text;
  for (char const c : s) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

/// The lines above a metric's samples. Returns the metric's name.
template <class Of>
std::string begin(std::string& text, std::string_view prefix, metric<Of> const& m) {
  std::string name{prefix};
  name.append(m.name);
  if (m.what == kind::counter) name.append("_total");
  text.append("# HELP ").append(name).append(" ").append(m.help).append("\n# TYPE ").append(name);
  text.append(m.what == kind::counter ? " counter\n" : " gauge\n");
  return name;
}

void sample(std::string& text, std::string const& name, std::string const& labels, std::uint64_t value) {
  text.append(name).append("{").append(labels).append("} ").append(std::to_string(value)).append("\n");
}

}  // namespace

std::string prometheus(std::span<named_stats const> pools) {
  std::vector<std::string> labels;
  for (named_stats const& p : pools) labels.push_back(std::string{"pool=\""}.append(escaped(p.pool)).append("\""));
  std::string text;
  for (auto const& m : of_worker) {
    std::string const name = begin(text, "nopal_", m);
    for (std::size_t k = 0; k < pools.size(); ++k) {
      for (std::size_t i = 0; i < pools[k].numbers.per_worker.size(); ++i) {
        std::string worker{labels[k]};
        worker.append(",worker=\"").append(std::to_string(i)).append("\"");
        sample(text, name, worker, pools[k].numbers.per_worker[i].*m.number);
      }
    }
  }
  for (auto const& m : of_pool) {
    std::string const name = begin(text, "nopal_pool_", m);
    for (std::size_t k = 0; k < pools.size(); ++k) sample(text, name, labels[k], pools[k].numbers.*m.number);
  }
  return text;
}

std::string prometheus(stats const& numbers, std::string const& pool) {
  named_stats const one{pool, numbers};
  return prometheus(std::span{&one, 1});
}

}  // namespace nopal
