// Gives the library names of functions, and keeps the table that gdb reads.

#include "observe/companion.hpp"

#include "debug/src/code_map.hpp"
#include "debug/src/debug_layout.hpp"
#include "debug/src/unwinder.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

class all_names final : public code_names {
 public:
  function_name const& name(std::uintptr_t pc) override { return code_.name(pc); }
  std::size_t walk(stack_copy const& s, std::span<std::uintptr_t> pcs) const noexcept override { return core::walk(code_, s, pcs); }

 private:
  code_map code_;
};

std::unique_ptr<code_names> names() {
  asm volatile("" : : "r"(&nopal_debug));  // so that the linker keeps it
  return std::make_unique<all_names>();
}

}  // namespace

extern companion const debug_companion;
companion const debug_companion{.name = "debug", .attach = nullptr, .names = names};

}  // namespace nopal::core
