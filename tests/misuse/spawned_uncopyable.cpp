// expect: nopal: spawn keeps its closure by value, and this one cannot be copied. Write spawn(std::move(f)).
#include <memory>
#include <nopal/nopal.hpp>

void parent() {
  auto const f = [p = std::make_unique<int>(1)] { (void)p; };
  nopal::spawn(f);
}
