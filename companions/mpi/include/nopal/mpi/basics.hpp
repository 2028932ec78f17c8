#pragma once

// What nopal::mpi's calls and its engine share: what a session asks of MPI, and an MPI call that has failed. Next: ../mpi.hpp.

#include "nopal/core/compiler/config.hpp"

#include <mpi.h>

#include <stdexcept>

namespace nopal::inline NOPAL_ABI::mpi {

struct session_options {
  /// What the library is asked for: MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED or MPI_THREAD_SINGLE. With less than
  /// MULTIPLE, or where the library gives less, the session lets one thread at a time into MPI; with less than SERIALIZED only its own.
  int threads = MPI_THREAD_MULTIPLE;
  /// New pools whose options name no event source get the session's, so that their idle workers look for what has completed. False: only
  /// those whose options name session::events(); for all others the session's thread looks.
  bool serve_pools = true;
};

/// An MPI call has failed, with the text of MPI_Error_string. The communicator must have MPI_ERRORS_RETURN, as MPI_COMM_WORLD,
/// MPI_COMM_SELF and what is made from them have while there is a session; with MPI_ERRORS_ARE_FATAL the library ends the program.
class NOPAL_API error : public std::runtime_error {
 public:
  /// `code`: what `call` has returned, or the error of the request at `index` of those that it was given. Asks for its text as mpi::call
  /// does, if there is a session: so it may suspend.
  error(char const* call, int code, int index = -1);

  /// What MPI has returned, and its error class, such as MPI_ERR_TRUNCATE.
  int code() const noexcept { return code_; }
  int error_class() const noexcept { return class_; }
  /// The MPI function, such as "MPI_Recv".
  char const* call() const noexcept { return call_; }
  /// Of wait_all and wait_any: the place of the request that has failed; else -1.
  int index() const noexcept { return index_; }

 private:
  int code_, class_, index_;
  char const* call_;  // a literal
};

}  // namespace nopal::mpi
