// A program that forgets a join, and uses nothing else: the line that ends it names the function, whatever part of the library was linked.

#include <nopal/pool.hpp>
#include <nopal/task.hpp>

namespace guilty {

nopal::task<> child() { co_return; }
nopal::task<> never_joins() { co_await nopal::fork(child); }

}  // namespace guilty

int main() {
  nopal::pool pool{{.workers = 1}};
  pool.run(guilty::never_joins);
}
