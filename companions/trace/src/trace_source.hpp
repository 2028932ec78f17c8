#pragma once

// An object that is written into a trace file, at its own end or at the end of the process. Next: pool_trace.hpp, the only one;
// trace_files.hpp, which keeps a list of all.

#include <cstdint>
#include <string>
#include <utility>

#include "nopal/core/base/process.hpp"
#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

class trace_source {
 public:
  trace_source(trace_source const&) = delete;
  trace_source& operator=(trace_source const&) = delete;

 protected:
  explicit trace_source(std::string to) : file{std::move(to)} {}
  ~trace_source() = default;

 private:
  friend class trace_files;
  /// Adds what was recorded since the last call to the bytes of the file. `addition`: a different number for each call in one process.
  /// Throws std::bad_alloc. By one thread at a time.
  virtual void append_to(std::string& bytes, std::uint32_t addition) = 0;

  std::string const file;
  unsigned const process = process_number;
  trace_source* next = nullptr;
};

}  // namespace nopal::core
