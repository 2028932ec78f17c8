# Pretty printers for the public types that have a state. gdb reads this after gdb_commands.py, and it uses the names of gdb.py.

import gdb.printing


def number(address, signed=True):
    return int.from_bytes(memory(address, 8), "little", signed=signed)


def owner_of(bits):
    """The owner of a mutex, in words."""
    stack = next((s for p in pools(Layout()) for s in p.stacks if s.address == bits), None)
    if stack is None:
        return "a thread"
    return f"the stack at {stack.base:#x}" + (f" ({stack.name})" if stack.name else "")


class Printer:
    def __init__(self, value):
        self.value = value
        self.at = int(value.address) if value.address is not None else 0

    def to_string(self):
        try:
            return f"{self.name} {{{self.state()}}}" if self.at else f"{self.name} {{in a register}}"
        except (gdb.error, gdb.GdbError) as e:
            return f"{self.name} {{cannot be read: {e}}}"


class Mutex(Printer):
    name = "nopal::mutex"

    def state(self):
        owner = number(self.at, signed=False) & Layout()["mutex.owners"] & (2**64 - 1)
        return f"locked by {owner_of(owner)}" if owner else "unlocked"


class Counter(Printer):
    name = "nopal::counter"

    def state(self):
        return str((number(self.at) >> Layout()["counter.shift"]) + number(self.at + 8))


class Latch(Counter):
    name = "nopal::latch"


class Semaphore(Printer):
    name = "nopal::semaphore"

    def state(self):
        permits = number(self.at) >> Layout()["semaphore.shift"]
        return f"{permits} permit" + "s" * (permits != 1)


class Channel(Printer):
    name = "nopal::channel"

    def state(self):
        closed = ", closed" if self.value["closed_"] else ""
        return f"{int(self.value['size_'])} of {int(self.value['capacity_'])} values{closed}"

    def children(self):
        size, capacity, first = (int(self.value[name]) for name in ("size_", "capacity_", "first_"))
        for k in range(min(size, capacity, 200)):
            yield f"[{k}]", self.value["ring_"][(first + k) % capacity]

    def display_hint(self):
        return "array"


class Future(Printer):
    name = "nopal::future"

    def state(self):
        shared = self.value["state_"]
        pointer = next(shared[f.name] for f in members(shared.type) if f.name in ("_M_ptr", "__ptr_"))
        if int(pointer) == 0:
            return "empty"
        event = int(pointer.dereference()["done"]["for_threads_"].address)  # set before the counter that stacks wait for
        state = int.from_bytes(memory(event, 4), "little")
        return "ready" if state == Layout()["event.set"] else "not ready"


def members(kind):
    """The members of a class and of its bases."""
    for field in kind.strip_typedefs().fields():
        if field.is_base_class:
            yield from members(field.type)
        else:
            yield field


class Scope(Printer):
    name = "nopal::scope"

    def state(self):
        stolen = int(self.value["children_"]["state"]) >> 2
        return f"stolen {stolen} times since its last join" if stolen else "not stolen since its last join"


class PrintedPool(Printer):
    name = "nopal::pool"

    def state(self):
        layout = Layout()
        pool = next((p for p in pools(layout) if word(p.address + layout["pool.owner"]) == self.at), None)
        if pool is None:
            return "no threads in this process"
        waiting = sum(1 for s in pool.stacks if s.waits)
        return f"{pool.name}, {len(pool.workers)} workers, {len(pool.stacks)} native stacks, {waiting} of which wait"


PRINTERS = gdb.printing.RegexpCollectionPrettyPrinter("nopal")
for printer in (Mutex, Counter, Latch, Semaphore, Channel, Future, Scope, PrintedPool):
    PRINTERS.add_printer(printer.name, f"^{printer.name.replace('::', '::(v[0-9]+_[0-9]+::)?')}(<.*>)?$", printer)
gdb.printing.register_pretty_printer(None, PRINTERS, replace=True)
