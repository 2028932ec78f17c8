#pragma once

// What code lies where in this process: for the names of functions in reports and in the last line of a program that nopal ends, and for
// walking up a stack that no thread runs. Called by report.cpp and place.cpp, each of which makes a map of its own. Next: unwinder.hpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// A function as users know it.
struct function_name {
  std::string text;      ///< demangled; "libx.so+0x12ab" where the object was stripped
  bool is_users = true;  ///< false: it is nopal's or the standard library's, and not shown
  bool is_name = true;   ///< false: the object was stripped, and the function is perhaps not the user's
};

/// The objects that were loaded when it was made. One thread at a time.
class code_map {
 public:
  /// Takes the loader's lock, for as long as it copies. Throws std::bad_alloc.
  code_map();
  code_map(code_map const&) = delete;
  code_map& operator=(code_map const&) = delete;

  /// The name of the function in which the call before the return address `pc` lies. Looked up once for each `pc`, in the object's file.
  /// Throws std::bad_alloc.
  function_name const& name(std::uintptr_t pc);

  /// The address of the .eh_frame_hdr of the object that holds `pc`, where its unwind information begins. 0: there is none.
  std::uintptr_t unwind_header(std::uintptr_t pc) const noexcept;

 private:
  struct object {
    std::string path;   ///< of its file
    std::string label;  ///< what users are shown
    std::uintptr_t base = 0, first = ~std::uintptr_t{0}, last = 0, unwind = 0;
    std::vector<unsigned char> headers;  ///< its program headers: they tell whether its file is still the one that was loaded
  };
  object const* find(std::uintptr_t pc) const noexcept;

  std::vector<object> objects_;
  std::map<std::uintptr_t, function_name> names_;
};

/// Fills `pcs` with the return addresses of the functions that call here, the innermost first, at most `most`. How many there are.
std::size_t callers(std::uintptr_t* pcs, std::size_t most) noexcept;

/// The user's functions among those that the `n` addresses at `pcs` return to, in words: "in f, called by g". "" if none is known. Throws
/// std::bad_alloc.
std::string where(code_map& code, std::uintptr_t const* pcs, std::size_t n);

}  // namespace nopal::core
