// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>
#include <string>
#include <utility>

int length(std::string&& line);

void from_outside(nopal::pool& pool) {
  std::string line(100, 'x');
  pool.submit(length, std::move(line)).get();
}
