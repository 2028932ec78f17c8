#pragma once

// The ranks on the same machine, as processes: if one dies, the others learn its rank at once, whatever MPI does. By the session's thread.
// Next: engine.cpp, which waits for it together with its other wake-ups.

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class peers {
 public:
  peers() = default;
  peers(peers const&) = delete;
  peers& operator=(peers const&) = delete;
  ~peers();

  /// Opens what `wake` writes to. Throws std::system_error.
  void open();
  /// By all ranks of `all`: each learns the processes of those on its machine and in its space of process numbers. Ranks elsewhere, or where
  /// the system has no pidfd, are not watched. Returns what MPI has returned.
  int find(MPI_Comm all);
  /// Sleeps for so long, or until `wake`, or until a peer dies; below 0: for ever.
  void sleep(std::int64_t nanoseconds) noexcept;
  /// Ends the present sleep, or the next. Any thread.
  void wake() const noexcept;

  struct peer {
    int rank;
    pid_t process;
    int file;
  };
  /// One that has died; null: none, as far as the last sleep has seen.
  peer const* dead() const noexcept { return dead_; }

 private:
  std::vector<peer> all_;
  peer const* dead_ = nullptr;
  int woken_ = -1, died_ = -1;  // an eventfd, and an epoll instance of the peers' pidfds
};

}  // namespace nopal::mpi
