// The program's function that calls here. Also defines print_place of base/fatal.hpp, since room base cannot call this one.

#include "report/place.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "report/code_names.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::string place_of(void const* function) noexcept {
  try {
    std::unique_ptr<code_names> const code = code_names::make();
    std::array<std::uintptr_t, 48> pcs;
    std::size_t n = 0;
    if (function != nullptr) {
      pcs[n++] = reinterpret_cast<std::uintptr_t>(function) + 1;  // as a return address: in the function
    } else {
      n = callers(pcs.data(), pcs.size());
    }
    std::string in;
    for (std::size_t k = 0; k < n && in.empty(); ++k) {  // the innermost is enough, as the line must also say what to do
      if (function_name const& f = code->name(pcs[k]); f.is_users) in = "in " + f.text;
    }
    stack const* const here = state_here()->here;
    // relaxed: the caller runs on this stack, so it wrote the name itself.
    stack_name const* const name = here == nullptr ? nullptr : here->name.load(std::memory_order_relaxed);
    if (name != nullptr) in += (in.empty() ? "in " : ", ") + std::string{name->text};
    return in;
  } catch (...) {  // no memory
    return {};
  }
}

std::string with_place(std::string message) {
  if (std::string const in = place_of(nullptr); !in.empty()) message += " (" + in + ")";
  return message;
}

void print_place(void const* function) noexcept {
  if (std::string const in = place_of(function); !in.empty()) std::fprintf(stderr, " (%s)", in.c_str());
}

}  // namespace nopal::core
