// LogGP's parameters between rank 0 and 1: one line with L, o, g in microseconds and G in microseconds a byte. o: the CPU time that a send and a
// receive take; L: half of a round trip without these; g: the time between two small messages of many; G: what a byte more costs of 64 KiB.
// Each is the least of several tries: what the machine does besides is not the network's.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <limits>
#include <vector>

#include "program.hpp"

namespace {

constexpr int tries = 20;
int rank = 0;

// Of the calling thread, in seconds.
double cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double least(double (*f)(int), int bytes) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < tries; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    best = std::min(best, f(bytes));
  }
  return best;
}

std::vector<char> memory(1 << 20);

// Half a round trip, in microseconds.
double one_way(int bytes) {
  constexpr int rounds = 200;
  double const began = distributed::now();
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) MPI_Send(memory.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank < 2) MPI_Recv(memory.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(memory.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (distributed::now() - began) / rounds / 2 * 1e6;
}
// What a send takes the CPU.
double overhead(int bytes) {
  constexpr int n = 200;
  double const began = cpu_time();
  for (int i = 0; i < n; ++i) {
    if (rank == 0) MPI_Send(memory.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  }
  double const took = (cpu_time() - began) / n * 1e6;
  for (int i = 0; i < n; ++i) {
    if (rank == 1) MPI_Recv(memory.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return took;
}
double gap(int bytes) {
  constexpr int n = 200;
  double const began = distributed::now();
  for (int i = 0; i < n; ++i) {
    if (rank == 0) MPI_Send(memory.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(memory.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) MPI_Recv(memory.data(), 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(memory.data(), 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  return (distributed::now() - began) / n * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  int ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    std::fprintf(stderr, "pingpong needs two ranks: mpirun -n 2\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  constexpr int large = 1 << 16;
  double const small_way = least(one_way, 8);
  double const large_way = least(one_way, large);
  double const o = least(overhead, 8);
  double const g = least(gap, 8);
  if (rank == 0) {
    std::printf("L=%.4f o=%.4f g=%.4f G=%.8f\n", std::max(0.0, small_way - 2 * o), o, g,
                std::max(0.0, large_way - small_way) / (large - 8));
  }
  MPI_Finalize();
  return 0;
}
