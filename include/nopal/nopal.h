#ifndef NOPAL_H
#define NOPAL_H

/* nopal for C11: pools, fork and join in ordinary functions, fibers. Any thread may call these functions. No C++ exception crosses them: a
   failure is the return value, and nopal_last_error() says it in words. If a pointer to a function, a scope or a counter is null, and its
   description does not say that it may be, the function does nothing and fails with NOPAL_INVALID. Link with the C++ library. Implemented
   in src/c.cpp. */

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/sanitizers.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* These functions are visible also if everything else is hidden, with -fvisibility=hidden. */
#pragma GCC visibility push(default)

typedef enum nopal_status {
  NOPAL_OK = 0,
  NOPAL_INVALID = 1,   /* an argument or option has a value that is not allowed */
  NOPAL_SYSTEM = 2,    /* the operating system refused threads or something else */
  NOPAL_NO_MEMORY = 3, /* there is not enough memory */
  NOPAL_EXCEPTION = 4, /* a C++ exception left a function that was given to nopal */
  NOPAL_TIMEOUT = 5    /* the time limit expired first */
} nopal_status;

/* Says why the calling thread's last failed call has failed; "" if none has. Valid until that thread's next call that fails. */
const char* nopal_last_error(void);

typedef void (*nopal_function)(void* arg);

/* ---- Pools. */

typedef struct nopal_pool nopal_pool;

enum nopal_idle { NOPAL_IDLE_LAZY = 0, NOPAL_IDLE_BUSY = 1 };
enum nopal_pin { NOPAL_PIN_AUTO = 0, NOPAL_PIN_YES = 1, NOPAL_PIN_NO = 2 };
enum nopal_reclaim { NOPAL_RECLAIM_DONTNEED = 0, NOPAL_RECLAIM_FREE = 1, NOPAL_RECLAIM_REMAP = 2, NOPAL_RECLAIM_NONE = 3 };
enum nopal_resume { NOPAL_RESUME_ANYWHERE = 0, NOPAL_RESUME_HOME = 1 };
enum nopal_victims { NOPAL_VICTIMS_BY_DISTANCE = 0, NOPAL_VICTIMS_UNIFORM = 1, NOPAL_VICTIMS_SCAN = 2 };

/* Options of a pool, as nopal::pool_options. 0 means the default everywhere: (nopal_options){.workers = 4} */
typedef struct nopal_options {
  unsigned workers;  /* threads; 0: NOPAL_WORKERS in the environment, else as many as the CPUs this process may use */
  int idle;          /* enum nopal_idle */
  int pin;           /* enum nopal_pin: whether each worker keeps to a CPU of its own */
  size_t stack_size; /* bytes of virtual memory for each native stack, 64 KiB to 1 TiB; 0: 1 MiB */
  int reclaim;       /* enum nopal_reclaim */
  int keep_local;    /* not 0: no stealing, for experiments */
  uint64_t seed;     /* decides the order in which workers try each other */
  int resume;        /* enum nopal_resume */
  int victims;       /* enum nopal_victims: which worker a thief tries next */
  int no_back_off;   /* not 0: thieves do not pause between their tries, for experiments */
  int64_t keep_warm; /* nanoseconds for which a worker that finds nothing keeps searching before it sleeps, if more than 0.2 ms */
} nopal_options;

/* A new pool. `options` may be null: the defaults. Returns null if it fails; nopal_last_error() says why. */
nopal_pool* nopal_pool_create(const nopal_options* options);
/* Waits for everything that was given to the pool, then ends its threads. Null is ignored. A function that runs on the pool must not call
   it. */
void nopal_pool_destroy(nopal_pool* pool);
/* Number of workers of the pool, or of the process's own pool if `pool` is null. Returns 0 if that pool cannot be made. */
unsigned nopal_pool_workers(const nopal_pool* pool);
/* Runs fn(arg) on the pool, or on the process's own pool if `pool` is null, and returns when it has ended. */
nopal_status nopal_pool_run(nopal_pool* pool, nopal_function fn, void* arg);

/* Ends the threads of the process's own pool, as nopal::shutdown: waits, for at most so many nanoseconds, until everything has ended that
   was given to it. NOPAL_TIMEOUT if they expire first: the pool runs on, and nopal_last_error() begins to say what it still has to do.
   NOPAL_INVALID in a function that runs on a pool. A later use of that pool starts its threads again. */
nopal_status nopal_shutdown(int64_t nanoseconds);

/* ---- Fork and join of two functions: nopal::parallel_invoke. */

/* Runs first(first_arg) now, and second(second_arg) on another worker at the same time or afterwards here; returns when both have ended.
   After the call the caller may run on another thread: it must not rely on thread-locals from before it. NOPAL_EXCEPTION if a C++ exception
   left one; if it left the first, the second may not have been run. Costs a few function calls if no worker takes the second. */
nopal_status nopal_parallel_invoke(nopal_function first, void* first_arg, nopal_function second, void* second_arg);

/* ---- Fork and join of any number: nopal::scope. One scope belongs to one call of one function. */

typedef struct nopal_scope {
  void* opaque[12];
} nopal_scope;

/* Begins a scope, which has no children yet. It needs no end but nopal_join. */
nopal_status nopal_scope_init(nopal_scope* scope);
/* Runs fn(arg) now, while the caller may continue on another thread: after the call it must not rely on thread-locals from before it. If
   it fails, fn is not run. */
nopal_status nopal_fork(nopal_scope* scope, nopal_function fn, void* arg);
/* Returns when all children of the scope have ended. To be called by the function that forked them, before it returns; afterwards it may
   fork again. NOPAL_EXCEPTION if a C++ exception left a child. */
nopal_status nopal_join(nopal_scope* scope);

/* ---- Loops: nopal::parallel_for_blocks. */

typedef void (*nopal_loop_body)(size_t first, size_t last, void* arg);

/* Calls body(f, l, arg) for blocks [f, l) that together are [first, last), none of them empty, each of any size, on several threads at once
   if workers are free. Any thread may call it, also within a loop's body; one that works for no pool enters the process's own pool if the
   loop is long. Nothing if `last` is not above `first`. NOPAL_EXCEPTION if a C++ exception left a body: everything before that has run, and
   everything after it may have run or not. */
nopal_status nopal_parallel_for(size_t first, size_t last, nopal_loop_body body, void* arg);

/* ---- Fibers: nopal::spawn and nopal::counter. */

typedef struct nopal_counter {
  void* opaque[6];
} nopal_counter;

/* Begins the counter's life at `value`, from -2^58 to 2^58: else NOPAL_INVALID, and there is no counter. */
nopal_status nopal_counter_init(nopal_counter* counter, int64_t value);
/* Ends the counter's life. Null is ignored. If a function still waits for it, or a fiber still counts it down, the program ends with a
   message; also if a C++ exception has left a function that was spawned with it, and no nopal_wait has said so. */
void nopal_counter_destroy(nopal_counter* counter);
/* Adds n, from -2^58 to 2^58, to the value: else NOPAL_INVALID, and nothing has changed. */
nopal_status nopal_counter_add(nopal_counter* counter, int64_t n);
/* Subtracts n from the value, as above, and wakes those that wait for the new value. */
nopal_status nopal_counter_done(nopal_counter* counter, int64_t n);
/* The present value. Returns 0 if it fails. */
int64_t nopal_counter_load(const nopal_counter* counter);

/* Runs fn(arg) later, on the caller's pool or the process's own. `counter`, which may be null, is counted up now, and down when fn
   has ended. Without a counter, a C++ exception that leaves fn ends the program with a message. */
nopal_status nopal_spawn(nopal_counter* counter, nopal_function fn, void* arg);
/* Suspends the caller until the counter is at most `value`: its worker runs others; a thread that works for no pool
   sleeps. NOPAL_EXCEPTION, once, if a C++ exception has left a function that was spawned with the counter. */
nopal_status nopal_wait(nopal_counter* counter, int64_t value);
/* As nopal_wait, for at most so many nanoseconds: NOPAL_TIMEOUT if they expire first. */
nopal_status nopal_wait_for(nopal_counter* counter, int64_t value, int64_t nanoseconds);
/* Lets what waits for the caller's worker run first. */
void nopal_yield(void);
/* Suspends the caller for so many nanoseconds; a thread that works for no pool sleeps. */
nopal_status nopal_sleep_for(int64_t nanoseconds);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
