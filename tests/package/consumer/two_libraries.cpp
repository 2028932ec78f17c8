// A program and two shared libraries, all of which use nopal.
#include <cstdio>

#include "work.hpp"

int main() {
  char const* wrong = nullptr;
  {
    nopal::pool pool{{.workers = 4}};
    wrong = work_together(pool, one_side(), other_side());
    if (wrong == nullptr) wrong = work_together(pool, program_side(), other_side());
  }
  std::printf("%s\n", wrong == nullptr ? "right" : wrong);
  return wrong == nullptr ? 0 : 1;
}
