/* Fork and join in plain C. */

#include <nopal/nopal.h>
#include <stdio.h>

struct fib {
  long n, result;
};

static void fib(void* arg) {
  struct fib* f = arg;
  if (f->n < 2) {
    f->result = f->n;
    return;
  }
  struct fib a = {f->n - 1, 0}, b = {f->n - 2, 0};
  nopal_scope s;
  nopal_scope_init(&s);
  nopal_fork(&s, fib, &a); /* runs now; the rest of this function may be stolen meanwhile */
  fib(&b);
  nopal_join(&s);
  f->result = a.result + b.result;
}

int main(void) {
  struct fib f = {20, 0};
  nopal_pool* pool = nopal_pool_create(NULL);
  if (pool == NULL || nopal_pool_run(pool, fib, &f) != NOPAL_OK) {
    fprintf(stderr, "%s\n", nopal_last_error());
    return 1;
  }
  nopal_pool_destroy(pool);
  printf("fib(%ld) = %ld\n", f.n, f.result);
  return f.result != 6765;
}
