/* A program in C, and nothing else. */
#include <nopal/nopal.h>
#include <stdio.h>

typedef struct {
  long n, result;
} numbers;

static void fib(void* arg) {
  numbers* const x = arg;
  if (x->n < 2) {
    x->result = x->n;
    return;
  }
  numbers a = {x->n - 1, 0}, b = {x->n - 2, 0};
  nopal_scope s;
  nopal_scope_init(&s);
  nopal_fork(&s, fib, &a);
  fib(&b);
  nopal_join(&s);
  x->result = a.result + b.result;
}

static void spawn(void* arg) {
  numbers all[50];
  nopal_counter left;
  nopal_counter_init(&left, 0);
  for (int k = 0; k < 50; ++k) {
    all[k] = (numbers){8, 0};
    nopal_spawn(&left, fib, &all[k]);
  }
  nopal_wait(&left, 0);
  nopal_counter_destroy(&left);
  for (int k = 0; k < 50; ++k) ((numbers*)arg)->result += all[k].result;
}

int main(void) {
  nopal_pool* const pool = nopal_pool_create(&(nopal_options){.workers = 4});
  if (pool == NULL) {
    puts(nopal_last_error());
    return 1;
  }
  int right = 1;
  for (int k = 0; k < 10; ++k) {
    numbers x = {20, 0}, y = {0, 0};
    right = right && nopal_pool_run(pool, fib, &x) == NOPAL_OK && x.result == 6765;
    right = right && nopal_pool_run(pool, spawn, &y) == NOPAL_OK && y.result == 50 * 21;
  }
  nopal_pool_destroy(pool);
  puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
