#pragma once

// Every bare number of the scheduler, with its unit and its reason. A number that belongs to a data layout is beside that layout. Next:
// sync.hpp, which gives some of them to the protocols.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core::tuning {

// ---- The machine.

/// Distance in bytes between words that two threads write: the adjacent-line prefetcher fetches pairs of 64-byte lines.
inline constexpr std::size_t destructive_size = 128;

// ---- A pool.

/// The most workers of one pool: enough for any machine, and few enough that a wrong number is an error and not a swapped-out machine.
inline constexpr unsigned most_workers = 1 << 14;
/// A pool of so many workers reads the limits on threads before it makes any: 0.1 ms, less than making so many takes.
inline constexpr unsigned workers_to_check = 256;
/// The least and the most bytes of a native stack. Fewer would not hold the guard page, the reserve and a few frames. A region of one place
/// is cut out of twice as much address space, of which there are 2^47 bytes.
inline constexpr std::size_t least_stack = std::size_t{64} << 10;
inline constexpr std::size_t most_stack = std::size_t{1} << 40;
/// So many values of fiber-locals one fiber destroys at its end, at most: more than any program has fiber-locals, so their destructors make
/// new ones without end.
inline constexpr unsigned most_ended_values = 1'000'000;
/// Unused native stacks that stay mapped, for each worker, with at most two pages of memory each, until nobody has needed them for some time:
/// making and ending one costs several system calls, and a recursion of scopes goes up and down some thousand levels.
inline constexpr std::size_t kept_stacks = 4096;
/// Mappings of the process (vm.max_map_count: 65,530) that native stacks leave to the program: malloc, threads and shared objects need
/// some. But never more than a quarter.
inline constexpr long mappings_left = 4096;
/// So many mappings native stacks take before the mappings of the process are counted, which costs 0.8 us for each; and after a refusal so
/// many nanoseconds pass before they are counted again.
inline constexpr long mappings_uncounted = 1024;
inline constexpr std::int64_t mappings_counted_again = 1'000'000'000;
/// The places of a pool's first mapping for native stacks. Each further one has as many as there are already, within stack_region's limits.
inline constexpr std::size_t first_places = 8;
/// Topmost pages that a stack keeps when it waits at a join, with frames on them or not, unless the pool's options say otherwise: loops wait
/// there often, and need them again at once. A page that is given back and touched again costs some microseconds.
inline constexpr std::size_t pages_kept_at_join = 4;
/// Topmost pages that the free stack keeps which a worker has put into its cache last, and takes next: without them a loop of a scope's
/// forks whose children use four pages, and whose function is stolen again and again, takes 2.3 times as long.
inline constexpr std::size_t pages_kept_by_newest = 8;
/// After at least so many new stacks, a pool may look again how much all of them hold: a question to the system,
/// and one for each stack where the process holds more than the limit.
inline constexpr std::uint64_t least_stacks_between_looks = 64;
/// Unused native stacks that a worker keeps for itself while it sleeps.
inline constexpr std::size_t stacks_kept_asleep = 1;

// ---- Memory that nothing uses.

/// Memory that nothing has used for one to three times as many milliseconds goes back to the system, but for `little_memory` bytes of each
/// kind, and so many free native stacks and chains of blocks of a pool. Jobs that come more often find their memory as they have left it.
inline constexpr int unused_memory_stays = 300;
inline constexpr std::size_t little_memory = std::size_t{1} << 20;
inline constexpr std::size_t stacks_kept_idle = 64;
inline constexpr std::size_t chains_kept_idle = 16;
/// The C library is asked to give back what was freed once this many chains were, 2 to 16 MiB: it looks through all that it has.
inline constexpr std::size_t chains_worth_a_trim = 256;

// ---- A worker that finds nothing.

/// A thread that was woken, and finds something, wakes so many others of its node, while there is visible work: so all are awake after as
/// many wake-ups in a row as the logarithm of their number. Each costs it some 4 us, and a thread woken in vain sleeps again after
/// search_before_sleep. With 4, 16,384 us of work on 64 workers would take 398 us instead of 409, and 256 us of work 133 instead of 127.
inline constexpr unsigned woken_by_one = 3;
/// A worker that is about to offer much wakes so many of a node at once: those that it can call before the first of them is awake, some 25
/// us later, and wakes others.
inline constexpr int woken_at_once = 6;
/// How long a worker of a pool with a limit runs, in nanoseconds, before it makes way for one that waits for a permit: a hand-over takes some
/// 10 us.
inline constexpr std::int64_t permit_slice = 1'000'000;
/// How long an idle thread searches before it sleeps, in nanoseconds: somewhat longer than it takes to wake up and to find work, which in a
/// virtual machine is 0.1 to 0.15 ms. A caller that runs one small job after another finds it awake.
inline constexpr std::int64_t search_before_sleep = 200'000;
/// After so many nanoseconds an idle thread yields its CPU between its searches.
inline constexpr std::int64_t search_before_yield = 25'000;
/// After so many nanoseconds the one thief of a node that must stay awake naps between its searches. The first nap takes shortest_nap
/// nanoseconds, and each is twice as long as the last, up to longest_nap: then it searches 200 times a second, which is 0.3 % of a CPU.
/// Something new ends a nap; one shorter than nap_until_news is not worth the system call that would end it.
inline constexpr std::int64_t search_before_naps = 2'000'000;
inline constexpr std::int64_t shortest_nap = 20'000;
inline constexpr std::int64_t nap_until_news = 200'000;
inline constexpr std::int64_t longest_nap = 5'000'000;
/// In a pinned pool, a thread that woke up on another CPU than its own is bound to that for so many sleeps.
inline constexpr unsigned bound_sleeps = 64;
/// The least pauses of the processor between two searches of a worker: doubled after each search in vain, and up to twice as many at
/// random, so that thieves do not all come at once. 32 and their jitter are 1 to 5 us.
inline constexpr std::uint64_t shortest_backoff = 4;
inline constexpr std::uint64_t longest_backoff = 32;
/// Pauses of the processor between two searches of an external caller that waits for its own job in a worker's place. They do not grow: the
/// caller must soon see that its job has ended.
inline constexpr int pauses_of_external_caller = 8;
/// Nanoseconds between two looks of the timer for events from outside, while no worker waits for them: each takes a CPU from a worker for
/// some 15 us. Doubled each time up to the second, as long as workers have looked once in a millisecond, in the mean over that time. Looks
/// that follow another within the third count as one with it.
inline constexpr std::int64_t between_polls = 1'000'000;
inline constexpr std::int64_t longest_between_polls = 4'000'000;
inline constexpr std::int64_t between_counted_looks = 500'000;
/// Nanoseconds between two looks of a thread for such events, between two strands that it runs.
inline constexpr std::int64_t between_looks = 50'000;
/// Once in so many times a worker takes the oldest of what is ready instead of the newest, or what came from outside. That seldom, the cost
/// of fairness stays below the noise. A power of two.
inline constexpr unsigned fairness = 64;
/// Blocks of a loop with an affinity, for each worker: enough that others can take some from one that is late, and few, since each is taken
/// by an atomic addition.
inline constexpr unsigned kept_blocks = 8;
/// Nodes of a graph that a worker calls one after the other before it looks at what else there is: enough that looking is a small part of
/// an empty node, and few, since nodes may take long.
inline constexpr unsigned graph_nodes_in_a_row = 16;
/// Nanoseconds for which something waits for a worker before it makes way, between two items of a pipeline. Enough that a few hundred
/// nanoseconds for a switch are a small part, also where each item wakes a fiber; and not much more than an item that is worth a steal.
inline constexpr std::int64_t pipeline_turn = 10'000;
/// For so many nanoseconds a carrier of a pipeline counts the items that come with it, and then those without it: some tens of short ones. If
/// fewer than pipeline_trial_items come, each may be worth a steal, and it does not look on.
inline constexpr std::int64_t pipeline_trial = 10'000;
inline constexpr int pipeline_trial_items = 4;
/// Nanoseconds until it tries again: so trials take a hundredth of the time.
inline constexpr std::int64_t pipeline_trial_again = 1'000'000;
/// Items of its own after which it reads the clock.
inline constexpr std::uint64_t pipeline_items_untimed = 8;
/// Besides the fiber that it runs, a thief takes at most so many at once: others may want some from the same victim.
inline constexpr std::int64_t most_taken = 32;
/// Once in so many times an external caller tries another worker than its last: the worker on its own CPU may be free again.
inline constexpr unsigned tries_another_worker = 64;

/// Nanoseconds that a thread which waits at a join on top of its stack sleeps between two looks at the workers that run the join's
/// children: doubled each time it finds nothing there. It is woken at once when the wait has ended.
inline constexpr std::int64_t shortest_doze = 20'000;
inline constexpr std::int64_t longest_doze = 1'000'000;
/// Polls, one in a millisecond at most, by which a thread waits for the turn of a stack: until those have ended that it has left later
/// inside nopal::stay. Then the stack continues out of its turn, since one of these may wait for it. We count polls, so a starved process
/// waits longer. A library whose frames end in another order may crash; strands that hand over to each other inside nopal::stay wait so
/// long each time.
inline constexpr std::uint32_t looks_for_turn = 300;
/// If all newer stacks wait at joins. What they wait for ends by itself, unless it waits in turn for what is no join.
inline constexpr std::uint32_t looks_while_newer_join = 3'000;
/// So many times as many while other workers run something, which may be what the newer stacks wait for.
inline constexpr std::uint32_t times_while_others_work = 5;
/// A thread that has left such a stack and has run only its own work for so many nanoseconds counts as waiting: that work may poll for ever
/// for something that no thread runs, if all threads are like this.
inline constexpr std::int64_t stalled = 10'000'000;
/// Nanoseconds that it sleeps at a wait that is no join: there is nothing to look for until it is called.
inline constexpr std::int64_t doze_until_called = 1'000'000'000;

// ---- The depth of forks.

/// Bytes of native stack into which forks and calls of tasks nest before a child's start is deferred to the stack's base. No fork takes
/// less than 16 bytes of it, a return address and a word.
inline constexpr std::uintptr_t nesting = 64 * 1024;
inline constexpr std::int64_t most_nested_forks = nesting / 16;

// ---- Waiting.

/// Nanoseconds until what is due is asked for again, after the first time: doubled each time up to longest_between_requests. A worker saves
/// its strand for it at most once in between_interruptions, which costs a few microseconds: 10 % of the time in the worst case.
inline constexpr std::int64_t between_requests = 100'000;
inline constexpr std::int64_t longest_between_requests = 1'000'000;
inline constexpr std::int64_t between_interruptions = 100'000;
/// Once in so many times a worker runs something else than what is due, if there is any.
inline constexpr unsigned due_in_a_row = 64;
/// After so much work of high priority in a row a worker runs other work, if there is some.
inline constexpr unsigned high_in_a_row = 64;
/// Nanoseconds that work of low priority waits before the oldest begins like work of high priority, if other work comes without end; then
/// one after as many. Ten times the longest time between requests, so that what is dear to interrupt is interrupted seldom.
inline constexpr std::int64_t low_waits = 10'000'000;
/// Without memory for another native stack a worker waits where it is. It tries again to suspend its stack, once in so many polls of what
/// it waits for, or after so many nanoseconds.
inline constexpr int polls_before_suspending_again = 100;
inline constexpr std::int64_t wait_without_stack = 1'000'000;
/// How often a waiter polls a mutex before it suspends: that takes less time than suspending. And how often it is woken in vain before the
/// mutex is handed over to it.
inline constexpr int mutex_spins = 10;
inline constexpr unsigned mutex_wakeups_in_vain = 2;
/// A lock bit, or the lock of a deque, is held for a few instructions. If it is not free after so many pauses, its holder has lost its CPU:
/// then the waiter yields its own.
inline constexpr int lock_pauses = 64;
/// After so many yields in vain it sleeps, for so many nanoseconds, doubled each time, at most most_longer_sleeps times: 20 us to 1.3 ms.
/// The holder needs no more than the first, once it has a CPU.
inline constexpr int yields_before_sleep = 16;
inline constexpr long sleep_for_holder = 20'000;
inline constexpr int most_longer_sleeps = 6;
/// A thief that has requested work polls so often for the answer before it requests again, and pauses so often before each poll.
inline constexpr int request_polls = 8;
inline constexpr int request_pauses = 4;
/// After so many nanoseconds without an answer a thief takes by force: an owner that forks answers in a few, an owner in a long leaf never.
inline constexpr std::int64_t request_patience = 5'000;
/// A thief whose force was in vain, since the owner pops and pushes at one place all the time, waits so many nanoseconds before the next:
/// doubled each time, at most most_force_backoffs times. 100 us to 3.2 ms.
inline constexpr std::int64_t force_backoff = 50'000;
inline constexpr int most_force_backoffs = 6;
/// A fork or call that has polled with an empty deque makes the next poll too, to see whether the floating-point mode has changed: at most
/// once in so many nanoseconds, which costs 2 % of that time, but so many times at once, since a tree of forks ends in short ones.
inline constexpr std::int64_t outermost_poll = 5'000;
inline constexpr std::int64_t most_outermost_polls = 16;
/// In builds with assertions a pool reports when nothing has been able to run for so long.
inline constexpr int stuck_after = 1000;  // in milliseconds
/// How often a pool's destructor checks whether fibers still run.
inline constexpr int end_of_fibers = 1;  // in milliseconds

// ---- Traces.

/// The most that pool_options::trace_events may be: 32 GiB for each worker.
inline constexpr std::size_t most_trace_events = std::size_t{1} << 30;
/// Beginnings and ends of spans that are kept of threads that work for no pool.
inline constexpr std::size_t spans_outside = std::size_t{1} << 16;

// ---- Controlled schedules.

/// A worker that has made no decision for so long is not running, or waits for another one.
inline constexpr int undecided = 50;  // in milliseconds
/// Unless it gets no CPU: it has used less than so many nanoseconds while it was to run, and does not sleep. A thread that has not begun
/// yet gets so many times longer.
inline constexpr std::int64_t turn_of_cpu_time = 40'000'000;
inline constexpr unsigned looks_at_unbegun = 40;
/// A worker that knows of nothing to find waits so many times longer before it takes over: it may have missed something, since a thief may
/// fail to find what is there, and not every offer is something new.
inline constexpr unsigned longer_without_news = 4;
/// How long an external caller, and the timer, wait until all workers are idle: CPU time of these. Workers without work need no longer to
/// notice that.
inline constexpr int until_rest = 5;  // in milliseconds

}  // namespace nopal::core::tuning

namespace nopal::inline NOPAL_ABI::core {
using tuning::destructive_size;
}  // namespace nopal::core
