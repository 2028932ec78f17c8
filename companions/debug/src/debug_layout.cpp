// What a debugger must know of the library, in the library itself: the list of pools, and a table of the offsets of members. So the
// commands of gdb.py need no debug information of the library, and fit the library that a program or a core file has. Nothing calls this.
// Next: gdb.py.

#include "debug/src/debug_layout.hpp"

#include <cstddef>
#include <cstdint>

#include "nopal/core/architecture/context_layout.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/basic_mutex.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/event.hpp"

// The types have bases, so offsetof is conditionally supported; both compilers support it, since no base is virtual.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

// The commands themselves, as text in the section that gdb reads scripts from, in a module of their own. The section is not loaded into
// memory.
#if defined(NOPAL_GDB_SCRIPTS)
asm(".pushsection .debug_gdb_scripts, \"\", %progbits\n"
    ".byte 4\n"  // a script in Python, and its name on the first line
    ".ascii \"gdb.inlined-nopal\\nimport types\\nnopal_gdb = types.ModuleType('nopal_gdb')\\nexec(r'''\\n\"\n"
    ".incbin \"" NOPAL_GDB_SCRIPTS
    "/gdb.py\"\n"
    ".incbin \"" NOPAL_GDB_SCRIPTS
    "/gdb_commands.py\"\n"
    ".incbin \"" NOPAL_GDB_SCRIPTS
    "/gdb_printers.py\"\n"
    ".ascii \"\\n''', nopal_gdb.__dict__)\\n\"\n"
    ".byte 0\n"
    ".popsection\n");
#endif

// Only their addresses are used.
extern "C" {
void nopal_forks_begin() asm("nopal_context_call");
void nopal_forks_end() asm("nopal_context_start");
}

namespace nopal::inline NOPAL_ABI::core {

/// A friend of each class in the table.
struct debug_layout {
  static constexpr debug_entry entries[] = {
      {"version", 1},
      {"live_pool.pool", offsetof(live_pool, pool_)},
      {"live_pool.next", offsetof(live_pool, next_)},
      {"live_pool.name", offsetof(live_pool, name_)},
      {"pool.process", offsetof(pool_state, process)},
      {"pool.workers", offsetof(pool_state, workers)},
      {"pool.owner", offsetof(pool_state, owner)},
      {"pool.stacks", offsetof(pool_state, stacks) + offsetof(stack_pool, all_)},
      {"worker.here", offsetof(worker, here)},
      {"stack.sp", offsetof(stack, sp)},
      {"stack.older", offsetof(stack, older_)},
      {"stack.low", offsetof(stack, low_)},
      {"stack.mapped", offsetof(stack, mapped_)},
      {"stack.page", offsetof(stack, page_)},
      {"stack.waits", offsetof(stack, waits)},
      {"stack.since", offsetof(stack, waits_since)},
      {"stack.name", offsetof(stack, name)},
      {"stack.origin", offsetof(stack, origin)},
      {"waits_for.what", offsetof(waits_for, what)},
      {"waits_for.object", offsetof(waits_for, object)},
      {"frame.resume", offsetof(frame, resume_function)},
      {"frame.parent", offsetof(frame, parent_word)},
      {"frame.parent_bits", parent_bits},
      {"frame.kind_mask", kind_mask},
      {"frame.of_job", of_job},
      {"mutex.owners", static_cast<std::int64_t>(basic_mutex<stack_waits>::owners)},
      {"counter.shift", basic_counter<timed_stack_waits>::shift},
      {"event.set", event::state_when_set},
      {"semaphore.shift", basic_semaphore<timed_stack_waits>::shift},
      {"context.size", sizeof(context_frame)},
#if defined(__x86_64__)
      {"context:r12", offsetof(context_frame, r12)},
      {"context:r13", offsetof(context_frame, r13)},
      {"context:r14", offsetof(context_frame, r14)},
      {"context:r15", offsetof(context_frame, r15)},
      {"context:rbx", offsetof(context_frame, rbx)},
      {"context:rbp", offsetof(context_frame, rbp)},
      {"context:rip", offsetof(context_frame, return_address)},
#elif defined(__aarch64__)
      {"context:x19", offsetof(context_frame, x19)},
      {"context:x20", offsetof(context_frame, x20)},
      {"context:x21", offsetof(context_frame, x21)},
      {"context:x22", offsetof(context_frame, x22)},
      {"context:x23", offsetof(context_frame, x23)},
      {"context:x24", offsetof(context_frame, x24)},
      {"context:x25", offsetof(context_frame, x25)},
      {"context:x26", offsetof(context_frame, x26)},
      {"context:x27", offsetof(context_frame, x27)},
      {"context:x28", offsetof(context_frame, x28)},
      {"context:x29", offsetof(context_frame, x29)},
      {"context:pc", offsetof(context_frame, x30)},
#endif
      {"", 0},
  };
  static constexpr live_pool* const* pools = &live_pool::first_;
};

extern "C" {
constinit debug_symbols const nopal_debug{debug_layout::entries, debug_layout::pools, nopal_forks_begin, nopal_forks_end};
}

}  // namespace nopal::core
