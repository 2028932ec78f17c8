/* What a C program writes: see c_test.cpp. */

#include <nopal/nopal.h>
#include <stdlib.h>

typedef struct {
  long n, result;
} fib_call;

void c_fib(void* arg) {
  fib_call* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return;
  }
  fib_call a = {call->n - 1, 0}, b = {call->n - 2, 0};
  nopal_scope s;
  nopal_scope_init(&s);
  if (nopal_fork(&s, c_fib, &a) != NOPAL_OK) abort();
  c_fib(&b);
  if (nopal_join(&s) != NOPAL_OK) abort();
  call->result = a.result + b.result;
}

void c_fib_by_fibers(void* arg) {
  fib_call* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return;
  }
  fib_call a = {call->n - 1, 0}, b = {call->n - 2, 0};
  nopal_counter left;
  nopal_counter_init(&left, 0);
  if (nopal_spawn(&left, c_fib_by_fibers, &a) != NOPAL_OK || nopal_spawn(&left, c_fib_by_fibers, &b) != NOPAL_OK) abort();
  if (nopal_wait(&left, 0) != NOPAL_OK) abort();
  nopal_counter_destroy(&left);
  call->result = a.result + b.result;
}

long c_run(nopal_pool* pool, nopal_function fn, long n) {
  fib_call call = {n, -1};
  return nopal_pool_run(pool, fn, &call) == NOPAL_OK ? call.result : -1;
}

nopal_pool* c_pool(unsigned workers) { return nopal_pool_create(&(nopal_options){.workers = workers, .idle = NOPAL_IDLE_LAZY}); }

static void c_count_block(size_t first, size_t last, void* arg) {
  unsigned char* const times = arg;
  for (size_t i = first; i < last; ++i) ++times[i];
}

/* Each byte from `first` to before `last` one more, in one loop, and those before the middle of that another, in a loop for each. */
static void c_loop_in_loop(size_t first, size_t last, void* arg) {
  for (size_t i = first; i < last; ++i) {
    if (nopal_parallel_for(i, i + 1, c_count_block, arg) != NOPAL_OK) abort();
  }
}

nopal_status c_loops(size_t first, size_t last, unsigned char* times) {
  nopal_status const s = nopal_parallel_for(first, last, c_count_block, times);
  return s != NOPAL_OK ? s : nopal_parallel_for(first, first + (last - first) / 2, c_loop_in_loop, times);
}
