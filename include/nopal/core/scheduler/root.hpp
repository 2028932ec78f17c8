#pragma once

// A root: one job given to a pool, from its submission to its result. Next: pool/typed_root.hpp adds the callable and the result;
// external_caller.hpp and submission.hpp bring it to a worker; task/strand_loop.hpp runs it.

#include <exception>

#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

struct pool_state;

/// Aligned for the bits that a child keeps beside its parent's address.
struct alignas(16) root : resumable {
  /// Starts the callable on the calling worker, as a forked or called child would start. Exceptions go to the worker.
  void (*start)(root&) = nullptr;
  /// The last thing that happens: the result or the error is in place. The root may be gone when it returns.
  void (*finish)(root&) noexcept = nullptr;
  pool_state* pool = nullptr;
  std::exception_ptr error;
};

}  // namespace nopal::core
