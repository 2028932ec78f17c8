#pragma once

// The addresses of the code in this process: for the names of functions in reports, in traces and in the last line of a program that nopal
// ends, and for walking up a stack that no thread runs. Next: unwinder.hpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The objects that were loaded when it was made. One thread at a time.
class code_map {
 public:
  /// Holds the loader's lock while it copies. Throws std::bad_alloc.
  code_map();
  code_map(code_map const&) = delete;
  code_map& operator=(code_map const&) = delete;

  /// The name of the function that contains the call before the return address `pc`. Looked up once for each `pc`, in the object's file.
  /// Throws std::bad_alloc.
  function_name const& name(std::uintptr_t pc);

  /// The address of the .eh_frame_hdr of the object that contains `pc`. 0: there is none.
  std::uintptr_t unwind_header(std::uintptr_t pc) const noexcept;

 private:
  struct object {
    std::string path;   ///< of its file
    std::string label;  ///< its name for users
    std::uintptr_t base = 0, first = ~std::uintptr_t{0}, last = 0, unwind = 0;
    std::vector<unsigned char> headers;  ///< its program headers, to detect that its file was replaced
  };
  object const* find(std::uintptr_t pc) const noexcept;

  std::vector<object> objects_;
  std::map<std::uintptr_t, function_name> names_;
};

}  // namespace nopal::core
