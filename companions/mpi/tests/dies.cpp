// Rank 1 ends as its argument says, while rank 0 waits for a message that never comes: dies.cmake requires that all end, and name it.

#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "nopal/mpi.hpp"
#include "nopal/pool.hpp"

int main(int argc, char** argv) {
  std::string_view const how = argc > 1 ? argv[1] : "";
  auto const body = [&] {
    nopal::mpi::session s{argc, argv};
    nopal::pool pool{{.workers = 1}};
    nopal::mpi::barrier(MPI_COMM_WORLD);
    if (s.rank() == 1 && how == "killed") ::kill(::getpid(), SIGKILL);
    if (s.rank() == 1 && how == "throws") throw std::runtime_error{"thrown by rank 1"};
    if (s.rank() == 1 && how == "terminates") std::thread{[] { throw std::runtime_error{"thrown by rank 1"}; }}.join();
    if (s.rank() == 1 && how == "leaves") {
      auto* const outlives = new nopal::pool{{.workers = 1}};
      outlives->detach([] { nopal::mpi::recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD); });
      outlives->submit([] {}).get();  // its worker has left the other job, which waits
      return;
    }
    pool.run([] { nopal::mpi::recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD); });
  };
  if (how != "throws") {
    body();
    return 0;
  }
  try {
    body();
  } catch (std::exception const&) {
  }
  return 0;
}
