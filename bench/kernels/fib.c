/* fib in C, on nopal's C interface. */

#include <stdlib.h>

#include <nopal/nopal.h>

typedef struct {
  long n, result;
} fib_call;

static void fib(void* arg) {
  fib_call* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return;
  }
  fib_call a = {call->n - 1, 0}, b = {call->n - 2, 0};
  if (nopal_parallel_invoke(fib, &a, fib, &b) != NOPAL_OK) abort();
  call->result = a.result + b.result;
}

long bench_fib_in_c(long n) {
  fib_call call = {n, 0};
  fib(&call);
  return call.result;
}
