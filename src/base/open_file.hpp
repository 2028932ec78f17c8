#pragma once

// Files for writing that the user has named. A pipe without a reader is an error, and neither an endless wait nor the end of the process.
// Next: companions/trace/src/pool_trace.cpp, companions/simulation/src/controlled_schedule.cpp, companions/simulation/src/report.cpp.

#include <string>
#include <string_view>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The file's name from / on, for one that is opened again later: the program may change its working directory before. As it is if it has
/// nothing before it: it is empty, or there is no working directory. Throws std::bad_alloc.
std::string absolute_name(std::string_view name);
/// Opens it, and makes it if it does not exist. `also`: O_APPEND, O_TRUNC, or 0. Returns the file; or -1, with errno: ENXIO for a pipe that
/// no process has open for reading.
int open_for_writing(char const* name, int also) noexcept;
/// What to do if that has failed with `error`: the second half of a message that begins with the file's name.
char const* remedy_for(int error) noexcept;
/// Writes all of it. Returns an error number, or 0. Raises no SIGPIPE.
int write_all(int file, std::string_view bytes) noexcept;
/// True if the open file is a pipe. Closing it ends it for its reader.
bool is_pipe(int file) noexcept;

}  // namespace nopal::core
