#ifndef NOPAL_H
#define NOPAL_H

/* nopal for C11: pools, fork and join in ordinary functions, fibers. No C++ exception crosses these functions: what went wrong is the
   return value, and nopal_last_error() says it in words. Link with the C++ library. */

#include "nopal/core/compiler/sanitizers.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Also where everything else is hidden: with -fvisibility=hidden. */
#pragma GCC visibility push(default)

typedef enum nopal_status {
  NOPAL_OK = 0,
  NOPAL_INVALID = 1,   /* an argument or option that cannot be met */
  NOPAL_SYSTEM = 2,    /* the system refused threads or the like */
  NOPAL_NO_MEMORY = 3,
  NOPAL_EXCEPTION = 4, /* a C++ exception left a function that was given to nopal */
  NOPAL_TIMEOUT = 5
} nopal_status;

/* Why the calling thread's last call that failed did so; "" if none has. Valid until its next call that fails. */
const char* nopal_last_error(void);

typedef void (*nopal_function)(void* arg);

/* ---- Pools. */

typedef struct nopal_pool nopal_pool;

enum nopal_idle { NOPAL_IDLE_LAZY = 0, NOPAL_IDLE_BUSY = 1 };
enum nopal_pin { NOPAL_PIN_AUTO = 0, NOPAL_PIN_YES = 1, NOPAL_PIN_NO = 2 };
enum nopal_reclaim { NOPAL_RECLAIM_DONTNEED = 0, NOPAL_RECLAIM_FREE = 1, NOPAL_RECLAIM_REMAP = 2, NOPAL_RECLAIM_NONE = 3 };

/* 0 means the default everywhere: see nopal::pool_options. (nopal_options){.workers = 4} */
typedef struct nopal_options {
  unsigned workers; /* as many as the CPUs this process may use */
  int idle;         /* enum nopal_idle */
  int pin;          /* enum nopal_pin */
  size_t stack_size; /* bytes of virtual memory for each native stack, 1 MiB */
  int reclaim;      /* enum nopal_reclaim */
  int keep_local;   /* not 0: no stealing, for experiments */
  uint64_t seed;
} nopal_options;

/* `options` may be null. Null if they cannot be met. */
nopal_pool* nopal_pool_create(const nopal_options* options);
/* Waits for everything that runs there. Null is ignored. Not from a function that runs on it. */
void nopal_pool_destroy(nopal_pool* pool);
/* Of the process's own pool if `pool` is null; 0 if that cannot be made. */
unsigned nopal_pool_workers(const nopal_pool* pool);
/* Runs fn(arg) on the pool, or on the process's own pool if that is null, and returns when it has ended. */
nopal_status nopal_pool_run(nopal_pool* pool, nopal_function fn, void* arg);

/* ---- Fork and join: nopal::scope. One scope belongs to one call of one function. */

typedef struct nopal_scope {
  void* opaque[12];
} nopal_scope;

void nopal_scope_init(nopal_scope* scope);
/* Runs fn(arg) now, while the caller may go on on another thread. A failure means that it was not run. */
nopal_status nopal_fork(nopal_scope* scope, nopal_function fn, void* arg);
/* Returns when all children have ended; before the function that has the scope returns. Afterwards it may fork again. */
nopal_status nopal_join(nopal_scope* scope);

/* ---- Fibers: nopal::spawn and nopal::counter. */

typedef struct nopal_counter {
  void* opaque[6];
} nopal_counter;

void nopal_counter_init(nopal_counter* counter, int64_t value);
/* Checks that nobody uses it any more: ends the program with a message if somebody does. */
void nopal_counter_destroy(nopal_counter* counter);
void nopal_counter_add(nopal_counter* counter, int64_t n);
void nopal_counter_done(nopal_counter* counter, int64_t n);
int64_t nopal_counter_load(const nopal_counter* counter);

/* Starts fn(arg) some time; `counter`, which may be null, is counted up now and down when it has ended. */
nopal_status nopal_spawn(nopal_counter* counter, nopal_function fn, void* arg);
/* Parks until the counter is at most `value`. */
nopal_status nopal_wait(nopal_counter* counter, int64_t value);
/* The same with a time limit: NOPAL_TIMEOUT if that came first. */
nopal_status nopal_wait_for(nopal_counter* counter, int64_t value, int64_t nanoseconds);
void nopal_yield(void);
nopal_status nopal_sleep_for(int64_t nanoseconds);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
