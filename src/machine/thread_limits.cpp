#include "nopal/core/machine/thread_limits.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/read_text.hpp"
#include "machine/cgroup.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// Each worker has the stack of its thread, that thread's alternate stack, a deque and a ring, each with a guard page, which is a mapping of
// its own. Its native stacks are not counted: how many mappings they take depends on the kernel.
constexpr std::uint64_t mappings_each = 8;

template <class Number = std::uint64_t>
std::optional<Number> number_in(std::string const& file) {
  std::ifstream in{file};
  Number n{};
  return in >> n ? std::optional{n} : std::nullopt;
}

// Number of lines of a file, in a buffer of its own: if there is no room for another mapping there may be no memory for a stream's.
std::optional<std::uint64_t> lines_in(std::string const& file) noexcept {
  int const in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return {};
  std::uint64_t lines = 0;
  std::array<char, 4096> part;
  ssize_t n = 0;
  while ((n = ::read(in, part.data(), part.size())) > 0) {
    lines += static_cast<std::uint64_t>(std::count(part.begin(), part.begin() + n, '\n'));
  }
  ::close(in);
  return lines;
}

// The number behind `key` in a file like /proc/self/status.
std::optional<std::uint64_t> field_in(std::string const& file, std::string_view key, int base) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    auto const from = line.find_first_not_of(" \t", key.size());
    if (from == line.npos) return {};
    std::uint64_t n = 0;
    auto const [end, error] = std::from_chars(line.data() + from, line.data() + line.size(), n, base);
    return error == std::errc{} ? std::optional{n} : std::nullopt;
  }
  return {};
}

// Number of threads in the system: /proc/loadavg is "0.1 0.2 0.3 running/all last".
std::uint64_t threads_of_all(std::string const& proc) {
  std::ifstream in{proc + "/loadavg"};
  std::string skipped, counts;
  in >> skipped >> skipped >> skipped >> counts;
  std::uint64_t n = 0;
  if (auto const slash = counts.find('/'); slash != counts.npos) {
    std::from_chars(counts.data() + slash + 1, counts.data() + counts.size(), n);
  }
  return n;
}

// True if the kernel allows this process's user any number of threads: root, and a process that may raise the limit.
bool may_exceed_nproc(std::string const& proc) {
  constexpr unsigned sys_admin = 21, sys_resource = 24;
  std::uint64_t const may = field_in(proc + "/self/status", "CapEff:", 16).value_or(0);
  return ::getuid() == 0 || ((may >> sys_admin | may >> sys_resource) & 1) != 0;
}

std::uint64_t thread_stack_bytes() {
  pthread_attr_t now;
  if (::pthread_attr_init(&now) != 0) return 0;
  std::size_t n = 0;
  ::pthread_attr_getstacksize(&now, &n);
  ::pthread_attr_destroy(&now);
  return n;
}

}  // namespace

std::string thread_limit::in_words() const {
  std::string text = name;
  text.append(" is ").append(std::to_string(most)).append(" ").append(unit);
  return text.append(", of which ").append(std::to_string(used)).append(" are in use");
}

std::vector<thread_limit> read_thread_limits(limit_files const& where) {
  std::vector<thread_limit> limits;
  std::string const& proc = where.proc;
  std::uint64_t const all = threads_of_all(proc);
  if (auto const most = number_in(proc + "/sys/kernel/threads-max")) {
    limits.push_back({"kernel.threads-max", "threads of the whole system", "raise it with sysctl", *most, all, 1});
  }
  if (auto const most = number_in(proc + "/sys/kernel/pid_max")) {
    limits.push_back({"kernel.pid_max", "threads and processes of the whole system", "raise it with sysctl", *most, all, 1});
  }
  if (auto const most = number_in(proc + "/sys/vm/max_map_count")) {
    limits.push_back({"vm.max_map_count", "mappings of this process", "raise it with sysctl", *most,
                      lines_in(proc + "/self/maps").value_or(0), mappings_each});
  }
  std::uint64_t const own = field_in(proc + "/self/status", "Threads:", 10).value_or(0);
  rlimit r{};
  if (::getrlimit(RLIMIT_NPROC, &r) == 0 && r.rlim_cur != RLIM_INFINITY && !may_exceed_nproc(proc)) {
    limits.push_back({"RLIMIT_NPROC", "threads of this user", "raise it with ulimit -u", r.rlim_cur, own, 1});
  }
  if (::getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY) {
    std::uint64_t const used = field_in(proc + "/self/status", "VmSize:", 10).value_or(0) * 1024;
    limits.push_back({"RLIMIT_AS", "bytes of address space of this process", "raise it with ulimit -v, or lower ulimit -s and stack_size",
                      r.rlim_cur, used, std::max<std::uint64_t>(1, thread_stack_bytes())});
  }
  for_each_cgroup(proc + "/self/cgroup", where.cgroups, "pids", [&](std::string const& group, int) {
    if (auto const most = number_in(group + "/pids.max")) {  // no number is "max": no limit
      limits.push_back({group + "/pids.max", "threads and processes of this cgroup", "raise it for the cgroup or container", *most,
                        number_in(group + "/pids.current").value_or(own), 1});
    }
  });
  return limits;
}

std::optional<thread_limit> limit_below(std::vector<thread_limit> const& limits, std::uint64_t threads) {
  auto const least =
      std::min_element(limits.begin(), limits.end(), [](thread_limit const& a, thread_limit const& b) { return a.room() < b.room(); });
  if (least == limits.end() || least->room() >= threads) return {};
  return *least;
}

std::uint64_t choose_memory_limit(std::size_t asked) {
  if (asked != 0) return asked;
  char const* const text = std::getenv("NOPAL_MEMORY_LIMIT");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
  std::uint64_t n = 0;
  if (text != nullptr && *text != '\0') {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (!read_all(text, n) || n > most) {
      throw std::invalid_argument("nopal::pool: NOPAL_MEMORY_LIMIT = \"" + std::string{text} + "\" is no number of MiB from 1 to " +
                                  std::to_string(most) + "; write one, or unset it: half of the memory that the process may use then");
    }
  }
  return n != 0 ? n << 20 : usable_memory() / 2;
}

std::uint64_t usable_memory() {
  std::uint64_t least = ~std::uint64_t{0};
  auto const pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) least = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  for (auto const what : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit l{};
    if (::getrlimit(what, &l) == 0 && l.rlim_cur != RLIM_INFINITY) least = std::min<std::uint64_t>(least, l.rlim_cur);
  }
  for_each_cgroup("/proc/self/cgroup", "/sys/fs/cgroup", "memory", [&](std::string const& folder, int version) {
    std::ifstream in{folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes")};
    if (std::uint64_t most = 0; in >> most && most != 0) least = std::min(least, most);  // "max" is no number
  });
  return least;
}

}  // namespace nopal::core
