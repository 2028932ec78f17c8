#pragma once

// Files that the user has named, which are written. A pipe that nobody reads is an error, neither a wait without end nor the end of the process.
// Next: ../trace/trace_files.cpp, ../schedules/schedule_log.cpp, ../simulation/findings.cpp.

#include <string_view>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Opens it, and makes it if it is not there. `also`: O_APPEND, O_TRUNC, or 0. Returns the file; or -1, with errno: ENXIO for a pipe that no
/// process has open for reading.
int open_for_writing(char const* name, int also) noexcept;
/// What to do where that has failed with `error`: the second half of a message that begins with the file's name.
char const* remedy_for(int error) noexcept;
/// Writes all of it. Returns an error number, or 0. No SIGPIPE comes of it.
int write_all(int file, std::string_view bytes) noexcept;
/// Is the open file a pipe? Whoever closes it ends it for its reader.
bool is_pipe(int file) noexcept;

}  // namespace nopal::core
