#pragma once

// The table of the library's layout that a debugger reads, for gdb.py. companion.cpp names it, so that the linker keeps it. Next:
// debug_layout.cpp.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A number that the commands need: usually the offset of a member in its object. The last entry has no name.
struct debug_entry {
  char name[24];
  std::int64_t value;
};

/// Found by its name, nopal_debug, in the symbol table. Its four words do not change with the library; the entries of the table may.
struct debug_symbols {
  debug_entry const* layout;
  void const* pools;      ///< the address of the pointer to the newest pool
  void (*forks_begin)();  ///< from here to forks_end: code that calls a function on another stack, and keeps in a register the pointer
  void (*forks_end)();    ///< of the stack that it has left
};

extern "C" NOPAL_API debug_symbols const nopal_debug;

}  // namespace nopal::core
