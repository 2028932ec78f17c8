// Children beside other parts of a program: code that needs its thread, other runtimes, rounding modes, other processes.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cfenv>
#include <thread>

#include "../scale.hpp"
#include "../this_thread.hpp"
#include "nopal/native.hpp"
#include "nopal/stay.hpp"
#include "run.hpp"

#ifdef NOPAL_SOAK_TBB
#include <tbb/parallel_for.h>
#endif
#if __has_include("nopal/floating_point.hpp")
#include "nopal/floating_point.hpp"
#define NOPAL_SOAK_ROUNDING 1
#endif

namespace soak {

unsigned available_company() noexcept {
  unsigned bits = bit_of(company::stays) | bit_of(company::processes) | bit_of(company::signals);
#ifdef NOPAL_SOAK_TBB
  bits |= bit_of(company::tbb);
#endif
#ifdef NOPAL_SOAK_ROUNDING
  bits |= bit_of(company::rounding);
#endif
#ifdef NOPAL_SOAK_OPENMP
  bits |= bit_of(company::openmp);
#endif
  return bits;
}

namespace {

/// Calls f(k) for the children from `from`, by parallel_invoke.
template <class F>
void each_forked(part const& p, F const& f, std::size_t from = 0) {
  if (from == p.size()) return;
  nopal::parallel_invoke([&] { f(from); }, [&] { each_forked(p, f, from + 1); });
}

void child(part const& p, std::size_t k) { p.values[k] = natively(p.s, *p.children[k]); }

void stays(part const& p) {
  nopal::stay const here;
  auto const thread = test::this_thread();
  each_forked(p, [&](std::size_t k) { child(p, k); });
  if (test::this_thread() != thread) p.s.wrong(p.n, "another thread inside nopal::stay");
}

/// Another runtime calls back, on this thread or one of its own. Its thread has no pool, and must not wait for one: the worker may wait for
/// it.
class calls_back {
 public:
  explicit calls_back(part const& p) noexcept : p_{p} {}

  void operator()(std::size_t k) {
    if (nopal::pool::current() == nullptr) return;
    nopal::stay const here;
    outcomes_[k] = attempt(p_.s, *p_.children[k]);
    done_[k] = true;
  }
  void rest() {
    for (std::size_t k = 0; k < p_.size(); ++k) {
      if (!done_[k]) outcomes_[k] = attempt(p_.s, *p_.children[k]);
    }
    settle(p_, outcomes_.data());
  }

 private:
  part const& p_;
  std::array<outcome, node::most_children> outcomes_;
  std::array<bool, node::most_children> done_{};
};

void in_a_loop_of_tbb([[maybe_unused]] part const& p) {
#ifdef NOPAL_SOAK_TBB
  calls_back back{p};
  {
    nopal::stay const here;
    tbb::parallel_for(std::size_t{0}, p.size(), [&](std::size_t k) { back(k); });
  }
  back.rest();
#endif
}

void in_a_loop_of_openmp([[maybe_unused]] part const& p) {
#ifdef NOPAL_SOAK_OPENMP
  calls_back back{p};
  {
    nopal::stay const here;
    std::size_t const size = p.size();
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (std::size_t k = 0; k < size; ++k) back(k);
  }
  back.rest();
#endif
}

void in_another_rounding_mode([[maybe_unused]] part const& p) {
#ifdef NOPAL_SOAK_ROUNDING
  static constexpr std::array<int, 4> modes{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int const mode = modes[p.n.salt % 4];
  nopal::floating_point_mode const here{mode};
  each_forked(p, [&](std::size_t k) {
    if (std::fegetround() != mode) p.s.wrong(p.n, "a child runs in another rounding mode");
    child(p, k);
    if (std::fegetround() != mode) p.s.wrong(p.n, "a child has left another rounding mode");
  });
  if (std::fegetround() != mode) p.s.wrong(p.n, "another rounding mode after the join");
#endif
}

/// Runs /bin/true, as a process forked here.
bool another_program_runs(bool spawned) {
  static std::array<char, 5> name{'t', 'r', 'u', 'e', 0};
  std::array<char*, 2> const words{name.data(), nullptr};
  pid_t child = 0;
  if (spawned || test::sanitized) {
    if (::posix_spawn(&child, "/bin/true", nullptr, nullptr, words.data(), environ) != 0) return false;
  } else if (child = ::fork(); child == 0) {
    ::execv("/bin/true", words.data());
    ::_exit(1);
  }
  if (child < 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void beside_a_process(part const& p) {
  each_forked(p, [&](std::size_t k) {
    if (k == 0 && !another_program_runs(p.n.bit(3))) p.s.wrong(p.n, "another program could not run");
    child(p, k);
  });
}

}  // namespace

void by_company(part const& p) {
  switch (p.n.how) {
    case way::stays: return stays(p);
    case way::tbb: return in_a_loop_of_tbb(p);
    case way::openmp: return in_a_loop_of_openmp(p);
    case way::rounding: return in_another_rounding_mode(p);
    default: return beside_a_process(p);
  }
}

}  // namespace soak
