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

void c_fib_by_halves(void* arg) {
  fib_call* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return;
  }
  fib_call a = {call->n - 1, 0}, b = {call->n - 2, 0};
  if (nopal_parallel_invoke(c_fib_by_halves, &a, c_fib_by_halves, &b) != NOPAL_OK) abort();
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
