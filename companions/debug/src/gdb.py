# The commands `nopal ...` and the pretty printers of gdb for programs with nopal. The library contains this text, and gdb reads it there.
# The layout of the library is in the table nopal_debug (debug_layout.cpp): so the commands need no debug information of the library, and
# work on a core file. Memory may be in any state: if it cannot be read, only the line that needs it has an error, and every loop is
# bounded. docs/debugging.md

import re

import gdb
import gdb.unwinder

MOST_POOLS, MOST_STACKS, MOST_FRAMES, MOST_PARENTS = 1000, 2_000_000, 400, 10_000


def memory(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def word(address):
    return int.from_bytes(memory(address, 8), "little")


def text(address, most=200):
    """The bytes up to a zero; "" if they cannot be read."""
    if address == 0:
        return ""
    try:
        # A string may end right before memory that cannot be read.
        for size in (most, 32, 8, 1):
            try:
                return memory(address, size).split(b"\0")[0].decode("utf-8", "replace")
            except gdb.MemoryError:
                continue
    except gdb.error:
        pass
    return ""


def without_version(name):
    """The name without the inline namespace of nopal's ABI, such as v0_2."""
    return re.sub(r"(?<=5nopal)\d+v\d+_\d+", "", re.sub(r"\bnopal::v\d+_\d+::", "nopal::", name))


def function_at(address):
    """The function of an address, without its arguments."""
    name = gdb.execute(f"info symbol {address:#x}", to_string=True).strip()
    if name.startswith("No symbol"):
        return f"{address:#x}"
    return name.split(" in section ")[0].split(" + ")[0]


class Layout:
    """The table nopal_debug of the debugged program."""

    def __init__(self):
        try:
            begin = int(gdb.parse_and_eval("(unsigned long)&nopal_debug"))
        except gdb.error:
            raise gdb.GdbError("there is no nopal in this program, or its symbols are stripped: keep them, or link libnopal.so") from None
        try:
            table, self.pools, self.forks, self.forks_end = (word(begin + 8 * k) for k in range(4))
            self.numbers = {}
            for k in range(200):
                name = text(table + 32 * k, 24)
                if not name:
                    break
                self.numbers[name] = int.from_bytes(memory(table + 32 * k + 24, 8), "little", signed=True)
        except gdb.MemoryError:
            raise gdb.GdbError("the program has not been started: nopal's tables are not there yet") from None
        if self.numbers.get("version") != 1:
            raise gdb.GdbError("this library's tables are of a version that these commands do not know; take the library's own")

    def __getitem__(self, name):
        return self.numbers[name]

    def registers(self):
        return {name[8:]: at for name, at in self.numbers.items() if name.startswith("context:")}


class Stack:
    """A native stack, as it is now."""

    def __init__(self, layout, address, pool):
        self.layout, self.address, self.pool = layout, address, pool
        self.worker = None  # the worker that runs it
        self.sp = word(address + layout["stack.sp"])
        self.waits = word(address + layout["stack.waits"])
        self.since = word(address + layout["stack.since"])
        self.origin = word(address + layout["stack.origin"])
        self.base = word(address + layout["stack.low"]) - word(address + layout["stack.page"])
        self.size = word(address + layout["stack.mapped"])
        name = word(address + layout["stack.name"])
        self.name = text(name, 32) if name else ""

    def holds(self, address):
        return self.base <= address < self.base + self.size

    def what(self):
        """What it waits for, in words."""
        if not self.waits:
            return ""
        try:
            what = text(word(self.waits + self.layout["waits_for.what"]))
            where = word(self.waits + self.layout["waits_for.object"])
        except gdb.MemoryError:
            return "something that cannot be read"
        return what + (f" at {where:#x}" if where else "")

    def thread(self):
        """The thread that runs it, or None. Selects none."""
        before = gdb.selected_thread()
        try:
            for thread in gdb.selected_inferior().threads():
                thread.switch()
                if self.holds(int(gdb.newest_frame().read_register("sp"))):
                    return thread
        except gdb.error:
            return None
        finally:
            if before is not None and before.is_valid():
                before.switch()
        return None


class Pool:
    def __init__(self, layout, node):
        self.address = word(node + layout["live_pool.pool"])
        self.name = text(word(node + layout["live_pool.name"]), 64)
        first = word(self.address + layout["pool.workers"])
        last = word(self.address + layout["pool.workers"] + 8)
        self.workers = [word(at) for at in range(first, min(last, first + 8 * 20_000), 8)]
        self.stacks, self.damaged, seen = [], "", set()
        at = word(self.address + layout["pool.stacks"])
        try:
            while at and len(self.stacks) < MOST_STACKS:
                if at in seen:
                    self.damaged = "the list of its stacks goes in a circle"
                    break
                seen.add(at)
                stack = Stack(layout, at, self)
                at = word(at + layout["stack.older"])
                self.stacks.append(stack)
        except gdb.MemoryError as e:
            self.damaged = f"the list of its stacks is damaged, or is just being changed ({e})"
        self.stacks.reverse()  # the oldest first
        here = {}
        for number, worker in enumerate(self.workers):
            try:
                here[word(worker + layout["worker.here"])] = number
            except gdb.MemoryError:
                self.damaged = f"worker {number} cannot be read"
        for stack in self.stacks:
            stack.worker = here.get(stack.address) if not stack.waits else None


def pools(layout):
    found, seen = [], set()
    node = word(layout.pools)
    while node and node not in seen and len(found) < MOST_POOLS:
        seen.add(node)
        pool = Pool(layout, node)
        if word(pool.address + layout["pool.process"]) & 0xFFFFFFFF:
            found.append(pool)
        node = word(node + layout["live_pool.next"])
    found.reverse()
    return found


# ---- Frames.


class Suspended(gdb.unwinder.Unwinder):
    """While `saved` is set, gdb takes the newest frame as called from where a stack was left. No register is written, so core files work,
    and nothing has to be restored."""

    def __init__(self):
        super().__init__("nopal")
        self.saved, self.at, self.sp = None, None, 0

    def __call__(self, pending):
        if self.saved is None or (int(pending.read_register("pc")), int(pending.read_register("sp"))) != self.at:
            return None
        info = pending.create_unwind_info(FrameId(self.sp, self.at[0]))
        for name, value in self.saved.items():
            like = pending.read_register(name)
            info.add_saved_register(name, gdb.Value(value.to_bytes(8, "little"), like.type))
        return info


class FrameId:
    def __init__(self, sp, pc):
        pointer = gdb.lookup_type("void").pointer()
        self.sp, self.pc = (gdb.Value(address.to_bytes(8, "little"), pointer) for address in (sp, pc))


SUSPENDED = Suspended()


def frames(stack, layout, saved_at=None):
    """Calls on a stack, the innermost first, each as (line, pc, CFA, the register that a fork keeps); and why there are no more."""
    thread = stack.thread() if saved_at is None and not stack.waits else None
    before = gdb.selected_thread()
    if before is None:
        return [], "the program does not run"
    found = []
    try:
        if thread is not None:
            thread.switch()
            frame = gdb.newest_frame()
        else:
            saved_at = saved_at or stack.sp
            if not stack.holds(saved_at):
                return [], "its saved stack pointer is not on it"
            SUSPENDED.saved = {name: word(saved_at + offset) for name, offset in layout.registers().items()}
            stack_pointer = "rsp" if "rip" in SUSPENDED.saved else "sp"
            SUSPENDED.saved[stack_pointer] = saved_at + layout["context.size"]
            now = gdb.newest_frame()
            SUSPENDED.at, SUSPENDED.sp = (int(now.read_register("pc")), int(now.read_register("sp"))), saved_at
            gdb.invalidate_cached_frames()
            frame = gdb.newest_frame().older()
        while frame is not None and len(found) < MOST_FRAMES:
            sp = int(frame.read_register("sp"))
            if not stack.holds(sp) and not (found == [] and thread is not None):
                break
            older = frame.older()
            kept = int(frame.read_register("rbx" if "rip" in layout.registers() else "x19")) & (2**64 - 1)
            cfa = int(older.read_register("sp")) if older is not None else sp + 1
            found.append((line_of(frame), frame.pc(), cfa, kept))
            frame = older
        return found, "" if len(found) < MOST_FRAMES else f"only the innermost {MOST_FRAMES} are shown"
    except (gdb.error, RuntimeError) as e:
        return found, f"the rest cannot be read: {e}"
    finally:
        if SUSPENDED.saved is not None:
            SUSPENDED.saved = None
            gdb.invalidate_cached_frames()
        if before.is_valid():
            before.switch()


def line_of(frame):
    name = without_version(frame.name() or function_at(frame.pc()))
    where = frame.find_sal()
    at = f" at {where.symtab.filename}:{where.line}" if where.symtab is not None and where.line else ""
    return f"{name}{at}"


def is_ours(line):
    """True for a function of the library, or of the standard library below it. Without debug information of the program, gdb does not see
    inlined functions: then the library's functions that run the program's closures are shown, as their names have the closures' types."""
    ours = line.startswith(("nopal_context_", "nopal::core::", "_ZN5nopal4core", "_ZZN5nopal4core", "std::__invoke", "std::invoke<", "__gthread_"))
    return ours and (" at " in line or "<" not in line.split("(")[0])


def stack_of(address, all_pools):
    return next((s for p in all_pools for s in p.stacks if s.holds(address)), None)


def path_to_root(stack, layout, all_pools, shows_all):
    """Lines: the calls on the stack, then those that it was forked from, up to the job."""
    lines, number, above, seen, saved_at, hidden = [], 0, 0, set(), None, 0
    while True:
        if (stack.address, above) in seen:
            return [*lines, "    -- it was forked from itself: the memory is damaged, or is just being changed"]
        seen.add((stack.address, above))
        calls, problem = frames(stack, layout, saved_at)
        calls = [call for call in calls if call[2] > above]
        for line, _, _, _ in calls:
            if is_ours(line) and not shows_all:
                hidden += 1
                continue
            lines.append(f"#{number:<3} {line}")
            number += 1
        if problem:
            lines.append(f"    -- {problem}")
        fork = calls[-1] if calls else None
        if fork is not None and layout.forks <= fork[1] - 1 < layout.forks_end and (parent := stack_of(fork[3], all_pools)):
            lines.append(f"    -- on a stack of its own, forked by a scope on the stack at {parent.base:#x}")
            stack, above = parent, fork[3]
            # Offered, and neither left for a wait nor resumed elsewhere: the fork has saved its registers.
            saved_at = above if not parent.waits and parent.worker is None else None
        elif stack.origin & 1:
            lines += tasks_from(stack.origin - 1, layout)
            break
        elif stack.origin and (parent := stack_of(stack.origin, all_pools)):
            lines.append(f"    -- stolen; forked by what {doing(parent)}, on the stack at {parent.base:#x}")
            stack, above, saved_at = parent, stack.origin, None
        else:
            break
    return lines + [f"    ({hidden} calls of nopal are not shown; nopal bt -all shows them)"] * (hidden > 0)


def doing(stack):
    return f"waits for {stack.what()}" if stack.waits else "runs" if stack.worker is not None else "is offered"


def tasks_from(frame, layout):
    """The tasks above a task's frame that was resumed at the base of a stack. They have no calls there."""
    lines, seen = ["    -- stolen, or resumed after a wait; the tasks above it:"], set()
    while frame and frame not in seen and len(seen) < MOST_PARENTS:
        seen.add(frame)
        try:
            parent = word(frame + layout["frame.parent"])
            lines.append(f"     {task_name(word(frame + layout['frame.resume']))} (frame {frame:#x})")
        except gdb.MemoryError:
            return [*lines, f"    -- the frame at {frame:#x} cannot be read"]
        if parent & layout["frame.kind_mask"] == layout["frame.of_job"]:
            return lines
        frame = parent & ~layout["frame.parent_bits"]
    return lines


def task_name(resume):
    """The coroutine function, without its parameters: GCC adds some of its own."""
    anonymous = "(anonymous namespace)"
    return without_version(function_at(resume)).replace(anonymous, "\x01").split("(")[0].split(" [clone")[0].replace("\x01", anonymous)


# Next: gdb_commands.py, which gdb reads after this.
