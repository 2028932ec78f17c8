#pragma once

// Names of functions, for reports, traces and the last line of a program that nopal ends. The companion debug provides them; without it no
// function is named. Called by report.cpp and place.cpp, which each make an object of their own. Next: companions/debug/src/code_map.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// A function as users know it.
struct function_name {
  std::string text;      ///< demangled; "libx.so+0x12ab" if the object was stripped
  bool is_users = true;  ///< false: a function of nopal or of the standard library, which is not shown
  bool is_name = true;   ///< false: the object was stripped, and the function may not be the user's
};

/// A copy of a stack's content, from `sp` on: the stack pointer that nopal_context_switch or nopal_context_call has saved.
struct stack_copy {
  std::uintptr_t sp;
  std::span<std::byte const> bytes;
};

/// Knows the code that is loaded when it is made. One thread at a time.
class code_names {
 public:
  code_names() = default;
  code_names(code_names const&) = delete;
  code_names& operator=(code_names const&) = delete;
  virtual ~code_names();

  /// Throws std::bad_alloc.
  static std::unique_ptr<code_names> make();

  /// The name of the function that made the call before the return address `pc`. Throws std::bad_alloc.
  virtual function_name const& name(std::uintptr_t pc) = 0;
  /// Fills `pcs` with the return addresses on the stack, the innermost first, as far as the unwind information of the code goes. Returns
  /// their number. If a thread ran the stack while it was copied, they have no meaning, but the walk is safe.
  virtual std::size_t walk(stack_copy const& s, std::span<std::uintptr_t> pcs) const noexcept = 0;
};

/// Fills `pcs` with the return addresses of the functions that call here, the innermost first, at most `most`. Returns their number.
std::size_t callers(std::uintptr_t* pcs, std::size_t most) noexcept;

/// The user's functions among those that the `n` addresses at `pcs` return to, in words: "in f, called by g". "" if none is known. Throws
/// std::bad_alloc.
std::string where(code_names& code, std::uintptr_t const* pcs, std::size_t n);

// The place of an error in the program: for the message of an exception, and for the last line of a program that misuses nopal. Any thread.

/// The program's function that the caller is in, in words: "in f, loader". f is `function` or, if that is null, the innermost of the
/// program's functions that call here; loader is the name of what runs on this stack (nopal::fiber_name). "" if neither is known. Throws
/// nothing.
std::string place_of(void const* function) noexcept;

/// `message`, for an exception, with the program's function that calls here in parentheses. Throws std::bad_alloc.
std::string with_place(std::string message);

}  // namespace nopal::core
