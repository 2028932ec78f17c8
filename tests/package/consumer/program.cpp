// A program outside nopal's tree.
#include <cstdio>

#include "work.hpp"

int main() {
  nopal::pool pool{{.workers = 4}};
  char const* const wrong = program_side()->work(pool);
  std::printf("%s\n", wrong == nullptr ? "right" : wrong);
  return wrong == nullptr ? 0 : 1;
}
