#pragma once

// What code lies where in this process: for the names of functions in reports and in the last words of a program, and for walking up a
// stack that nobody runs.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nopal::core {

/// A function as users know it.
struct function_name {
  std::string text;      ///< demangled; "libx.so+0x12ab" where the object was stripped
  bool is_users = true;  ///< no: of nopal or the standard library, and not worth a word
  bool is_name = true;   ///< no: stripped, and perhaps not the user's
};

/// The objects that were loaded when it was made. Throws std::bad_alloc, wherever it says nothing else.
class code_map {
 public:
  code_map();
  code_map(code_map const&) = delete;
  code_map& operator=(code_map const&) = delete;

  /// Of the function that the call before the return address `pc` lies in. Looked up once each, in the object's file.
  function_name const& name(std::uintptr_t pc);

  /// Where the unwind information of the object that holds `pc` begins, its .eh_frame_hdr; 0: there is none.
  std::uintptr_t unwind_header(std::uintptr_t pc) const noexcept;

 private:
  struct object {
    std::string path;   ///< to be opened
    std::string label;  ///< for users
    std::uintptr_t base = 0, first = ~std::uintptr_t{0}, last = 0, unwind = 0;
    std::vector<unsigned char> headers;  ///< its program headers, by which its file is known again
  };
  object const* find(std::uintptr_t pc) const noexcept;

  std::vector<object> objects_;
  std::map<std::uintptr_t, function_name> names_;
};

/// The functions that call here, the innermost first; `pcs` has room for `most` return addresses.
std::size_t callers(std::uintptr_t* pcs, std::size_t most) noexcept;

/// "in f, called by g": users' functions among those that `pcs` return to; "" if none is known.
std::string where(code_map& code, std::uintptr_t const* pcs, std::size_t n);

}  // namespace nopal::core
