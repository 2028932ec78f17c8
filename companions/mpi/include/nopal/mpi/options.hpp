#pragma once

// session_options: what a session asks of MPI. Plain data. Next: ../mpi.hpp.

#include "nopal/core/compiler/config.hpp"

#include <mpi.h>

namespace nopal::inline NOPAL_ABI::mpi {

struct session_options {
  /// What the library is asked for: MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED or MPI_THREAD_SINGLE. With less than
  /// MULTIPLE, or where the library gives less, the session lets one thread at a time into MPI; with less than SERIALIZED only its own.
  int threads = MPI_THREAD_MULTIPLE;
  /// New pools whose options name no event source get the session's, so that their idle workers look for what has completed. False: only
  /// those whose options name session::events(); for all others the session's thread looks.
  bool serve_pools = true;
};

}  // namespace nopal::mpi
