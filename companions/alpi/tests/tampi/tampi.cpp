// TAMPI on nopal, for two ranks or more: in each mode many more tasks wait for messages than there are workers, and each message must come
// to the right one. TAMPI itself is not nopal's: tampi.sh, beside this, builds it from TAMPI_ROOT.

#include <TAMPI.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "nopal/alpi.hpp"
#include "nopal/nopal.hpp"

namespace {

constexpr int messages = 500;
int rank = 0;
int ranks = 0;

void must(bool holds, char const* what, int i) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: %s, message %d\n", rank, what, i);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int value(int from, int i) { return from * messages + i; }

// Blocking: each MPI_Recv suspends its task. All receives begin before all sends, and the first is of the message that is sent last.
void blocking() {
  int const before = (rank + ranks - 1) % ranks;
  int const after = (rank + 1) % ranks;
  nopal::counter received;
  nopal::counter sent;
  for (int i = messages - 1; i >= 0; --i) {
    nopal::alpi::spawn(received, [=] {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      must(got == value(before, i), "MPI_Recv got another message", i);
    });
  }
  for (int i = 0; i < messages; ++i) {
    nopal::alpi::spawn(sent, [=] {
      int const gives = value(rank, i);
      MPI_Ssend(&gives, 1, MPI_INT, after, i, MPI_COMM_WORLD);
    });
  }
  nopal::wait_for(sent);
  nopal::wait_for(received);
}

// Not blocking: the task that receives returns at once, completes when its message is there, and then the task after it begins.
void not_blocking() {
  int const before = (rank + ranks - 1) % ranks;
  int const after = (rank + 1) % ranks;
  std::vector<int> got(messages, -1);
  std::vector<int> gives(messages);
  std::vector<nopal::counter> received(messages);
  nopal::counter sent;
  nopal::counter used;
  for (int i = messages - 1; i >= 0; --i) {
    auto const at = static_cast<std::size_t>(i);
    nopal::alpi::spawn(received[at], [=, &got] { TAMPI_Irecv(&got[at], 1, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
    nopal::alpi::spawn(nopal::after(received[at]), used,
                       [=, &got] { must(got[at] == value(before, i), "TAMPI_Irecv completed before its message was there", i); });
  }
  for (int i = 0; i < messages; ++i) {
    auto const at = static_cast<std::size_t>(i);
    gives[at] = value(rank, i);
    nopal::alpi::spawn(sent, [=, &gives] { TAMPI_Isend(&gives[at], 1, MPI_INT, after, i, MPI_COMM_WORLD); });
  }
  nopal::wait_for(sent);
  nopal::wait_for(used);
  for (nopal::counter& c : received) nopal::wait_for(c);
}

void sum_over_all() {
  int sum = 0;
  int const mine = rank + 1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  must(sum == ranks * (ranks + 1) / 2, "MPI_Allreduce has another sum", 0);
}

}  // namespace

int main(int argc, char** argv) {
  nopal::pool pool{{.workers = 2}};
  nopal::alpi::use(pool);
  nopal::alpi::run([&] {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(provided == MPI_TASK_MULTIPLE, "no MPI_TASK_MULTIPLE: this is MPI without TAMPI, or without threads", provided);
    for (int round = 0; round < 3; ++round) {
      blocking();
      not_blocking();
      sum_over_all();
    }
    if (rank == 0) std::printf("TAMPI on nopal: %d ranks, 3 rounds of %d messages in each mode\n", ranks, messages);
    MPI_Finalize();
  });
  nopal::alpi::use_default_pool();
}
