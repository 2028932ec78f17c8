# The commands. gdb reads this after gdb.py, and it uses the names of gdb.py. Next: gdb_printers.py, which gdb reads after this.

import time


def numbered(all_pools):
    """All stacks that run or wait, with their numbers."""
    return list(enumerate((s for p in all_pools for s in p.stacks if s.waits or s.worker is not None), start=1))


def age(stack):
    connection = gdb.selected_inferior().connection
    if connection is None or connection.type != "native":
        return ""  # a core file, or another machine, has another clock
    seconds = time.clock_gettime(time.CLOCK_MONOTONIC) - stack.since / 1e9
    return f", for {seconds:.1f} s" if 0 <= seconds < 1e9 else ""


def innermost(stack, layout):
    """The innermost function of the program."""
    calls, _ = frames(stack, layout)
    return next((line for line, *_ in calls if not is_ours(line) and not line.startswith(("nopal::", "std::", "__", "syscall"))), "")


class Nopal(gdb.Command):
    """Look into nopal: nopal strands, nopal stacks, nopal bt N."""

    def __init__(self):
        super().__init__("nopal", gdb.COMMAND_STACK, prefix=True)


class Strands(gdb.Command):
    """List what runs and what waits: each native stack on which something is, with what it waits for and the function that does."""

    def __init__(self):
        super().__init__("nopal strands", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        layout = Layout()
        all_pools = pools(layout)
        if not all_pools:
            print("no pool runs")
        by_address = {s.address: number for number, s in numbered(all_pools)}
        for pool in all_pools:
            print(f"pool {pool.name or '(no name)'}: {len(pool.workers)} workers")
            for stack in pool.stacks:
                if stack.address not in by_address:
                    continue
                name = f" ({stack.name})" if stack.name else ""
                state = f"waits for {stack.what()}{age(stack)}" if stack.waits else f"runs on worker {stack.worker}"
                place = innermost(stack, layout)
                print(f"{by_address[stack.address]:>4}{name} {state}" + (f"\n       in {place}" if place else ""))
            if pool.damaged:
                print(f"  -- {pool.damaged}")


class Stacks(gdb.Command):
    """List all native stacks of all pools, also those that are free or offered: address, size, how much is in use, state."""

    def __init__(self):
        super().__init__("nopal stacks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        layout = Layout()
        all_pools = pools(layout)
        by_address = {s.address: number for number, s in numbered(all_pools)}
        for pool in all_pools:
            print(f"pool {pool.name or '(no name)'}: {len(pool.stacks)} stacks")
            for s in pool.stacks:
                number = by_address.get(s.address, "-")
                used = f"{s.address - s.sp} bytes used" if s.waits and s.holds(s.sp) else ""
                state = f"waits for {s.what()}" if s.waits else f"worker {s.worker}" if s.worker is not None else "free, or offered by a scope"
                print(f"{number:>4} {s.base:#x} {s.size >> 10} KiB {used or '':>18} {state}")
            if pool.damaged:
                print(f"  -- {pool.damaged}")


class Backtrace(gdb.Command):
    """nopal bt [-all] N: the calls on stack N of `nopal strands`, or on the stack that holds an address, then those from which it was forked, up
to the job. -all: with the functions of nopal."""

    def __init__(self):
        super().__init__("nopal bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        shows_all = "-all" in words
        words = [w for w in words if w != "-all"]
        if len(words) != 1:
            raise gdb.GdbError("nopal bt [-all] N: N is a number that nopal strands shows, or an address on a stack")
        layout = Layout()
        all_pools = pools(layout)
        wanted = int(gdb.parse_and_eval(words[0]))
        stack = dict(numbered(all_pools)).get(wanted) or stack_of(wanted, all_pools)
        if stack is None:
            raise gdb.GdbError(f"nopal bt: there is no strand {words[0]}; nopal strands lists them")
        for line in path_to_root(stack, layout, all_pools, shows_all):
            print(line)


for command in (Nopal, Strands, Stacks, Backtrace):
    command()
gdb.unwinder.register_unwinder(None, SUSPENDED, replace=True)
