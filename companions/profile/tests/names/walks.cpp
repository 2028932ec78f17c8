// Ends with 0 if the other file of this program has the same classes.

#include "nopal/pool.hpp"
#include "walk.hpp"

int main() {
  std::vector<int> visited(3);
  int sum = 0;
  nopal::pool{{.workers = 2}}.run([&] {
    walk w{visited};
    for (int n = 0; n < 3; ++n) w.visit(n);
    w.end();
    int a = 0, b = 0;
    both([&] { a = 1; }, [&] { b = 2; });
    sum = a + b;
  });
  sum += nopal::pool{{.workers = 1}}.run(twice, 2);
  return visited == std::vector<int>{0, 1, 2, 2} && sum == 7 ? 0 : 1;
}
