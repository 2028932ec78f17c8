#pragma once

// What the distributed programs share: options, time, and the runtime that one source is compiled for. NOPAL_DISTRIBUTED_NOPAL: nopal::mpi on
// a pool. NOPAL_DISTRIBUTED_OPENMP: MPI from one thread, loops by OpenMP. Neither: plain MPI, one thread.

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(NOPAL_DISTRIBUTED_NOPAL)
#include "nopal/mpi.hpp"
#include "nopal/nopal.hpp"
#elif defined(NOPAL_DISTRIBUTED_OPENMP)
#include <omp.h>
#endif

/// Of what the programs compute: the same machine code, at the same place in its cache lines, whatever the runtime around it.
#define DISTRIBUTED_KERNEL [[gnu::noinline, gnu::aligned(64)]]

namespace distributed {

#if defined(NOPAL_DISTRIBUTED_NOPAL)
inline constexpr char const* runtime = "nopal";
#elif defined(NOPAL_DISTRIBUTED_OPENMP)
inline constexpr char const* runtime = "openmp";
#else
inline constexpr char const* runtime = "plain";
#endif

/// --name value, for the names that `defaults` has.
class options {
 public:
  options(std::map<std::string, long> defaults, int argc, char** argv) : values_{std::move(defaults)} {
    for (int i = 1; i < argc; i += 2) {
      std::string const name = argv[i];
      auto const known = name.starts_with("--") ? values_.find(name.substr(2)) : values_.end();
      if (known == values_.end() || i + 1 == argc) throw std::invalid_argument{usage(name)};
      std::size_t used = 0;
      std::string const text = argv[i + 1];
      try {
        known->second = std::stol(text, &used);
      } catch (std::exception const&) {
        used = std::string::npos;
      }
      if (used != text.size() || known->second < 0) throw std::invalid_argument{name + " takes a number from 0 on, not '" + text + "'"};
    }
  }
  long operator[](std::string const& name) const { return values_.at(name); }

 private:
  std::string usage(std::string const& wrong) const {
    std::string text = wrong + ": no such option, or its value is missing. There are";
    for (auto const& [name, value] : values_) text += " --" + name + " " + std::to_string(value);
    return text;
  }
  std::map<std::string, long> values_;
};

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The time that a rank spends on its own work, in pieces, on each worker. By the steady clock: the CPU time of a thread is a call of the system, and
/// small pieces would pay for it.
class computed {
 public:
  explicit computed(unsigned workers) : of_(workers) {}
  template <class F>
  void piece(unsigned worker, F&& f) {
    double const began = now();
    f();
    of_[worker].seconds += now() - began;
  }
  double each() const {
    double sum = 0;
    for (auto const& w : of_) sum += w.seconds;
    return sum / static_cast<double>(of_.size());
  }

 private:
  struct alignas(64) one {
    double seconds = 0;
  };
  std::vector<one> of_;
};

inline unsigned this_worker() {
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  return nopal::this_worker::index_or(0);
#elif defined(NOPAL_DISTRIBUTED_OPENMP)
  return static_cast<unsigned>(omp_get_thread_num());
#else
  return 0;
#endif
}

/// A rank's answer and times, brought together on rank 0, which prints one line; returns main's result. `correct`: of this rank.
inline int report(char const* program, char const* how, std::string const& size, unsigned workers, double seconds, double compute,
                  bool correct) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double const mine[] = {seconds, compute};
  double most[2] = {};
  int const wrong = correct ? 0 : 1;
  int all_wrong = 0;
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("program=%s runtime=%s how=%s size=%s ranks=%d workers=%u seconds=%.6f compute=%.6f answer=%s\n", program, runtime, how,
                size.c_str(), ranks, workers, most[0], most[1], all_wrong == 0 ? "right" : "WRONG");
    std::fflush(stdout);
  }
  return all_wrong == 0 ? 0 : 1;
}

}  // namespace distributed
