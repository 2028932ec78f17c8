#include "every_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "../numbered.hpp"
#include "../scale.hpp"

// The dynamic linker's own, which LeakSanitizer identifies only by its usual caller.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_options();
extern "C" char const* __lsan_default_options() { return "print_suppressions=0"; }
extern "C" char const* __lsan_default_suppressions() { return "leak:_dl_map_object_deps\nleak:dl_open_worker\n"; }

namespace test::faults {
namespace {

constexpr std::chrono::seconds limit{sanitized ? 60 : 15};

/// What the child tells its parent, in memory that they share, since the child may not live to report it otherwise.
struct told {
  trace first;
  std::atomic<char const*> doing{"nothing yet"};  // literals: at the same address in both
  std::array<std::uint64_t, kinds> calls{};
  std::uint64_t failures = 0;
  std::int64_t live = 0;
  std::int64_t mapped = 0;
  bool threw = false;
  bool finished = false;
  std::array<char, 400> wrong{};

  void say(char const* what, char const* more = "") noexcept { std::snprintf(wrong.data(), wrong.size(), "%s%s", what, more); }
};

/// As many jobs as there are workers; none ends before all have begun.
bool all_workers_work(nopal::pool& pool) {
  std::atomic<unsigned> here{0};
  unsigned const n = pool.workers();
  std::vector<nopal::future<bool>> jobs;
  for (unsigned k = 0; k < n; ++k) {
    jobs.push_back(pool.submit([&here, n] {
      ++here;
      auto const until = std::chrono::steady_clock::now() + limit / 3;
      while (here < n && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      return here == n;
    }));
  }
  bool all = true;
  for (auto& j : jobs) all = j.get() && all;
  return all;
}

told* mine = nullptr;  // the child's

/// In the child. Never returns.
[[noreturn]] void live_and_die(scenario const& s, plan const& p, told& t) {
  mine = &t;
  t.live = -live_blocks();
  t.mapped = -mapped_bytes();
  std::atexit([] {
    mine->live += live_blocks();
    mine->mapped += mapped_bytes();
  });  // after the default pool has gone, which is made later
  keep_trace_in(&t.first);
  std::optional<nopal::pool> pool;
  t.doing = "the scenario, with faults";
  try {
    arm(p);
    pool.emplace(s.options);
    bool const right = s.run(*pool);
    disarm();
    if (!right) t.say("a wrong result");
  } catch (numbered const&) {
    disarm();
    t.threw = true;
    if (!s.throws) t.say("an exception that nobody has thrown");
  } catch (std::bad_alloc const&) {
    disarm();
    t.threw = true;
    if ((p.kinds & memory) == 0) t.say("std::bad_alloc, where memory was not what failed");
  } catch (std::system_error const& e) {
    disarm();
    t.threw = true;
    if (std::string_view{e.what()}.substr(0, 5) != "nopal") t.say("std::system_error without words of ours: ", e.what());
  } catch (std::exception const& e) {
    disarm();
    t.threw = true;
    t.say("an exception that is not documented: ", e.what());
  } catch (...) {
    disarm();
    t.say("an exception of no known type");
  }
  keep_trace_in(nullptr);
  for (unsigned k = 0; k < kinds; ++k) t.calls[k] = calls(static_cast<kind>(k));
  t.failures = failures();
  if (t.threw && t.failures == 0) t.say("an exception without a fault");
  try {
    t.doing = "making a pool afterwards";
    if (!pool) pool.emplace(s.options);
    t.doing = "the scenario again, without faults";
    bool right = false;
    try {
      right = s.run(*pool);
    } catch (numbered const&) {
      right = s.throws;
    }
    if (!right) t.say("a wrong result afterwards");
    t.doing = "having all workers work";
    if (s.options.steal && !all_workers_work(*pool)) t.say("not all workers work afterwards");
    t.doing = "destroying the pool";
    pool.reset();
  } catch (std::exception const& e) {
    t.say("an exception afterwards: ", e.what());
  }
  t.doing = "leaving";
  t.finished = true;
  std::exit(t.wrong[0] != 0);
}

std::string text_of(int file) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(file, 0, SEEK_END))), '\0');
  if (::pread(file, text.data(), text.size(), 0) < 0) text.clear();
  return text;
}

std::string site_of(trace const& t) {
  if (t.depth == 0) return "no call failed";
  std::string site = std::string{"the first to fail was "} + name(t.what) + ", call " + std::to_string(t.number) + ", of\n";
  for (int i = 0; i < t.depth; ++i) {
    Dl_info info{};
    std::array<char, 512> line;
    bool const known = ::dladdr(t.callers[static_cast<std::size_t>(i)], &info) != 0;
    int failed = 1;
    std::unique_ptr<char, decltype(&std::free)> const words{
        known && info.dli_sname != nullptr ? abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed) : nullptr, std::free};
    char const* const called = words != nullptr ? words.get() : known && info.dli_sname != nullptr ? info.dli_sname : "?";
    std::snprintf(
        line.data(), line.size(), "      %s  (%s+0x%zx)\n", called, known ? info.dli_fname : "?",
        known ? static_cast<std::size_t>(static_cast<char*>(t.callers[static_cast<std::size_t>(i)]) - static_cast<char*>(info.dli_fbase))
              : 0);
    site += line.data();
  }
  return site;
}

/// The ends of the program that the documentation lists.
bool is_documented_end(std::string const& said) {
  static constexpr std::array<std::string_view, 1> ends{"nopal: membarrier failed after its registration\n"};
  return std::find(ends.begin(), ends.end(), said) != ends.end();
}

/// The rest of its output without the line about a stack that was refused: one for each pool.
std::string without_refusal(std::string said) {
  static constexpr std::string_view refusal{"nopal: no memory for another native stack: "};
  for (std::size_t at; (at = said.find(refusal)) != std::string::npos;) said.erase(at, said.find('\n', at) - at + 1);
  return said;
}

struct shared_memory {
  told* t = ::new (::mmap(nullptr, sizeof(told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) told;
  shared_memory() = default;
  shared_memory(shared_memory const&) = delete;
  shared_memory& operator=(shared_memory const&) = delete;
  ~shared_memory() { ::munmap(t, sizeof(told)); }
};

/// The default pool is never destroyed: its workers keep their caches, which are fuller or emptier from run to run.
bool keeps_default_pool(scenario const& s) {
  std::string const name = s.name;
  return name == "uses_the_default_pool" || name == "spawns_outside";
}
bool too_much_is_mapped(scenario const& s, std::int64_t bytes) {
  return keeps_default_pool(s) ? bytes > std::int64_t{64} << 20 : bytes != 0;
}

/// One process. `live`: how many blocks may be left; below 0 if that must be learnt.
void one_life(scenario const& s, plan const& p, std::int64_t& live, outcome& o) {
  shared_memory const memory;
  told& t = *memory.t;
  int const output = ::memfd_create("stderr", 0);
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child == 0) {
    ::dup2(output, STDERR_FILENO);
    live_and_die(s, p, t);
  }
  int const alive = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  pollfd wait{alive, POLLIN, 0};
  bool const hangs = ::poll(&wait, 1, static_cast<int>(std::chrono::milliseconds{limit}.count())) == 0;
  if (hangs) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(alive);
  std::string const said = t.first.depth != 0 ? without_refusal(text_of(output)) : text_of(output);
  ::close(output);

  ++o.runs;
  o.injected += t.failures > 0 || t.first.depth != 0;
  std::string wrong;
  if (hangs) {
    wrong = "it hangs";
  } else if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGABRT && t.first.depth != 0 && is_documented_end(said)) {
      ++o.ends;
    } else {
      wrong = std::string{"it ended by "} + ::strsignal(WTERMSIG(status));
    }
  } else if (t.wrong[0] != 0) {
    wrong = t.wrong.data();
  } else if (WEXITSTATUS(status) != 0 || !t.finished) {
    wrong = "it left with status " + std::to_string(WEXITSTATUS(status));
  } else if (!said.empty()) {
    wrong = "it said something";
  } else if (live < 0) {
    live = t.live;
    o.calls = t.calls;
  } else if (t.live > live + (keeps_default_pool(s) ? 16 : 0)) {
    wrong = std::to_string(t.live - live) + " blocks of operator new are left";
  } else if (too_much_is_mapped(s, t.mapped) && (p.kinds & of(kind::unmap)) == 0) {
    wrong = std::to_string(t.mapped) + " bytes are left mapped";
  } else {
    ++(t.threw ? o.exceptions : o.results);
  }
  if (wrong.empty()) return;
  o.wrong.push_back(wrong + ", during " + t.doing.load() + "; " + site_of(t.first) + (said.empty() ? "" : "    it said: " + said));
}

/// Without faults: how many blocks are left, and how many calls there are.
outcome reference(scenario const& s, std::int64_t& live) {
  live = -1;
  outcome o;
  one_life(s, {}, live, o);
  return o;
}

}  // namespace

outcome fail_each(scenario const& s, unsigned most) {
  std::int64_t live;
  outcome o = reference(s, live);
  for (unsigned k = 0; k < kinds && o.wrong.size() < 3; ++k) {
    auto const what = static_cast<kind>(k);
    if (what == kind::futex_wake) continue;  // alone it fails for a bad address only
    std::uint64_t const n = o.calls[k];
    // The slow membarrier, which replaces one that fails, may take a second.
    std::uint64_t const tries = most == 0 ? n : std::min<std::uint64_t>(n, what == kind::membarrier ? 2 : most);
    for (std::uint64_t i = 0; i < tries && o.wrong.size() < 3; ++i) {
      std::uint64_t const number = 1 + (tries == n ? i : i * (n - 1) / (tries - 1));
      one_life(s, {.kinds = of(what), .first = number}, live, o);
      // Lack of memory usually lasts.
      if ((memory & of(what)) != 0 && (most == 0 || i % 3 == 0)) {
        one_life(s, {.kinds = of(what), .first = number, .last = plan::never, .milliseconds = 50}, live, o);
      }
    }
  }
  return o;
}

outcome fail_all(scenario const& s, kind_set what, std::uint64_t first) {
  std::int64_t live;
  outcome o = reference(s, live);
  one_life(s, {.kinds = what, .first = first, .last = plan::never}, live, o);
  return o;
}

outcome fail_at_random(scenario const& s, kind_set what, std::uint64_t one_in, std::uint64_t seed) {
  std::int64_t live;
  outcome o = reference(s, live);
  one_life(s, {.kinds = what, .one_in = one_in, .seed = seed, .milliseconds = 50}, live, o);
  return o;
}

}  // namespace test::faults
