#include "nopal/core/machine/cpus.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include "base/read_text.hpp"
#include "machine/cgroup.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Both are in microseconds. A quota of -1 or "max" is the kernel's "no limit"; other text that fails here is garbled.
double quota_of(std::string_view quota, std::string_view period) {
  std::int64_t granted = 0;
  std::int64_t every = 0;
  if (!read_all(quota, granted) || !read_all(period, every) || granted <= 0 || every <= 0) return unlimited;
  return static_cast<double>(granted) / static_cast<double>(every);
}

// Files are named by strings here: libstdc++ 12 destroys a std::filesystem::path twice if its /= finds no memory.
std::string first_word(std::string const& file) {
  std::string word;
  std::ifstream{file} >> word;
  return word;
}

double quota_v2(std::string const& group) {
  std::string quota, period;
  std::ifstream{group + "/cpu.max"} >> quota >> period;
  return quota_of(quota, period);
}

double quota_v1(std::string const& group) {
  return quota_of(first_word(group + "/cpu.cfs_quota_us"), first_word(group + "/cpu.cfs_period_us"));
}

std::vector<int> first_cpus(unsigned count) {
  std::vector<int> cpus(std::max(1u, count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

}  // namespace

unsigned cpu_limits::usable() const noexcept {
  double const most = std::min(static_cast<double>(cpus.size()), std::ceil(quota));
  return most > 1 ? static_cast<unsigned>(most) : 1;
}

double read_cgroup_quota(fs::path const& proc_self_cgroup, fs::path const& cgroup_root) {
  double quota = unlimited;
  for_each_cgroup(proc_self_cgroup.native(), cgroup_root.native(), "cpu", [&](std::string const& group, int version) {
    quota = std::min(quota, version == 2 ? quota_v2(group) : quota_v1(group));
  });
  return quota;
}

std::vector<int> read_affinity(affinity_reader read) {
  constexpr int most_cpus = 1 << 22;  // far beyond any kernel: a reader that always returns EINVAL must not loop for ever
  for (int room = CPU_SETSIZE; room <= most_cpus; room *= 2) {
    struct mask_free {
      void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
    };
    auto const slots = static_cast<std::size_t>(room);
    std::unique_ptr<cpu_set_t, mask_free> const mask{CPU_ALLOC(slots)};
    if (!mask) return {};
    std::size_t const bytes = CPU_ALLOC_SIZE(slots);
    CPU_ZERO_S(bytes, mask.get());
    if (read(0, bytes, mask.get()) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < slots; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.get())) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

bool holds_every_cpu(std::vector<int> const& cpus, std::string_view list) {
  return for_each_range(list, [&](std::int64_t first, std::int64_t last) {
    for (auto cpu = first; cpu <= last; ++cpu) {
      if (!std::binary_search(cpus.begin(), cpus.end(), cpu)) return false;
    }
    return true;
  });
}

cpu_limits read_cpu_limits() {
  cpu_limits limits;
  limits.cpus = read_affinity();
  if (limits.cpus.empty()) limits.cpus = first_cpus(std::thread::hardware_concurrency());
  limits.quota = read_cgroup_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  bool const every_cpu = holds_every_cpu(limits.cpus, first_word("/sys/devices/system/cpu/online"));
  limits.whole_machine = every_cpu && limits.quota >= static_cast<double>(limits.cpus.size());
  return limits;
}

namespace {

bool holds(cpu_mask const& m, int cpu) noexcept { return CPU_ISSET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }
bool equal(cpu_mask const& a, cpu_mask const& b) noexcept { return CPU_EQUAL_S(cpu_mask::bytes, a.sets.data(), b.sets.data()); }

int read_mask(cpu_mask& m) noexcept { return ::sched_getaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }
// Restoring a mask fails only if a cpuset has lost all of its CPUs since: then the kernel has chosen others already.
int set_mask(cpu_mask const& m) noexcept { return ::sched_setaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }

cpu_set_t all_cpus() noexcept {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  return all;
}
void add(cpu_mask& m, int cpu) noexcept { CPU_SET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }

/// The mask of the calling thread, and that of `cpu` alone. Returns 0, or an error number.
int read_masks(int cpu, cpu_mask& now, cpu_mask& one) noexcept {
  if (int const error = read_mask(now); error != 0) return error;
  if (!holds(now, cpu)) return EINVAL;
  add(one, cpu);
  return 0;
}

}  // namespace

// A mask of its own would be the thread's for ever, and would keep it from CPUs that come online later, or that a cpuset gets: so it gets
// that of all CPUs back, which the kernel narrows, unless it had a narrower one. If another thread has set the mask meanwhile, that stays.
int move_to_cpu(int cpu) noexcept {
  int const error_number = errno;
  cpu_mask before, one, now;
  int error = read_masks(cpu, before, one);
  // Not by set_mask: this is the call that tests/faults counts, one for each worker as its thread begins.
  if (error == 0) error = ::pthread_setaffinity_np(::pthread_self(), cpu_mask::bytes, one.sets.data());
  if (error == 0 && read_mask(now) == 0 && equal(now, one)) {
    cpu_mask all;
    all.sets.fill(all_cpus());
    if (set_mask(all) != 0 || read_mask(now) != 0 || !equal(now, before)) set_mask(before);
  }
  errno = error_number;
  return error;
}

void keep_to_cpus(std::vector<int> const& cpus) noexcept {
  cpu_mask these;
  for (int const cpu : cpus) add(these, cpu);
  if (!cpus.empty()) set_mask(these);
}

bound_to_cpu::bound_to_cpu(int cpu) noexcept : bound_{read_masks(cpu, before_, one_) == 0 && set_mask(one_) == 0} {}

bound_to_cpu::~bound_to_cpu() {
  cpu_mask now;
  if (bound_ && read_mask(now) == 0 && equal(now, one_)) set_mask(before_);
}

}  // namespace nopal::core
