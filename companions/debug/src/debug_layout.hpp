#pragma once

// What a debugger reads of the library: where things lie. Made here for gdb.py beside this file; scheduler.cpp names it, so that a program
// that has pools has this too. Next: debug_layout.cpp.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A number that the commands need: as a rule how far a member lies from the begin of its object. The last one has no name.
struct debug_entry {
  char name[24];
  std::int64_t value;
};

/// Found by its name, nopal_debug, in the symbol table. Its four words do not change with the library; what the table has may.
struct debug_symbols {
  debug_entry const* layout;
  void const* pools;      ///< the address of the pointer to the newest pool
  void (*forks_begin)();  ///< from here to the next, code that calls a function on another stack, and keeps in a register the pointer of
  void (*forks_end)();    ///< the stack that it has left
};

extern "C" NOPAL_API debug_symbols const nopal_debug;

}  // namespace nopal::core
