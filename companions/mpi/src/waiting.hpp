#pragma once

// What waits for MPI: in the frame of the one that waits, and known to the engine until it has ended. Next: engine.hpp.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "nopal/core/compiler/config.hpp"
#include "nopal/semaphore.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

class engine;
class looker;

/// A command is what a thread gives to the engine: taken once, by the thread that looks, where MPI may be called. The giver waits for `told`,
/// which is released once, as the last access of whoever looks: then it may be gone.
struct command {
  void (*taken)(engine&, command&) noexcept = nullptr;
  command* next = nullptr;  ///< among commands that nobody has taken yet; later, among those whose giver is to be told
  bool by_session = false;  ///< the session's thread must look for it
  looker* of = nullptr;     ///< the source of the pool on which the giver works, which tells it; null: any thread does
  semaphore told{0};
};

/// One request of a wait. Once it is in the engine, only who looks uses it.
struct one_request {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  int code = MPI_SUCCESS;
  bool has_ended = false;
  bool may_cancel = false;  ///< a receive, which is cancelled if its caller is asked to stop
  bool asked_to_end = false;
  bool was_cancelled = false;
};

/// A wait for all of some requests.
struct wait_for_all : command {
  /// Begins the requests; null: they have begun. What MPI returns.
  int (*begin)(void* with, std::span<one_request> requests) noexcept = nullptr;
  void* with = nullptr;
  std::span<one_request> requests;
  std::size_t left = 0;     ///< that have not ended
  int begun = MPI_SUCCESS;  ///< what `begin` has returned
};

/// A wait for something that is tested for by a call of its own.
struct wait_by_test : command {
  /// True: it has ended. Where MPI may be called.
  bool (*test)(wait_by_test& me) noexcept = nullptr;
  int code = MPI_SUCCESS;
  bool is_tested = false;  ///< it is in the engine's list
  bool gave_up = false;
};

}  // namespace nopal::mpi
