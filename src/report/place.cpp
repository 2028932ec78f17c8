// The program's function that calls here. Also defines print_place of base/fatal.hpp, since room base cannot call this one.

#include "report/place.hpp"

#include <unwind.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "observe/companion.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// Without a companion that knows names: no function is shown.
class no_names final : public code_names {
 public:
  function_name const& name(std::uintptr_t) override { return none_; }
  std::size_t walk(stack_copy const&, std::span<std::uintptr_t>) const noexcept override { return 0; }

 private:
  function_name const none_{.text = {}, .is_users = false, .is_name = false};
};

}  // namespace

code_names::~code_names() = default;

std::unique_ptr<code_names> code_names::make() {
  for (companion const* const c : companions()) {
    if (c->names != nullptr) return c->names();
  }
  return std::make_unique<no_names>();
}

std::size_t callers(std::uintptr_t* pcs, std::size_t most) noexcept {
  struct state {
    std::uintptr_t* next;
    std::uintptr_t* end;
  } s{pcs, pcs + most};
  _Unwind_Backtrace(
      [](_Unwind_Context* c, void* with) {
        auto& into = *static_cast<state*>(with);
        std::uintptr_t const pc = _Unwind_GetIP(c);
        if (pc == 0 || into.next == into.end) return _URC_END_OF_STACK;
        *into.next++ = pc;
        return _URC_NO_REASON;
      },
      &s);
  return static_cast<std::size_t>(s.next - pcs);
}

std::string where(code_names& code, std::uintptr_t const* pcs, std::size_t n) {
  constexpr std::size_t most_named = 6, most_shown = 16;
  std::string line;
  std::string last;
  std::size_t names = 0, shown = 0;
  for (std::size_t k = 0; k < n && names < most_named && shown < most_shown; ++k) {
    function_name const& f = code.name(pcs[k]);
    // A repeated name is shown once: a recursion, the parts of one coroutine, a closure and the function that runs it.
    if (!f.is_users || f.text.empty() || last.compare(0, f.text.size(), f.text) == 0) continue;
    line += (shown++ == 0 ? "in " : ", called by ") + f.text;
    names += f.is_name;
    last = f.text;
  }
  return line;
}

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
