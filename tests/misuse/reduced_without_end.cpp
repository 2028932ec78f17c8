// expect: nopal: this range has no end, so the algorithm would not end either.
#include <nopal/nopal.hpp>
#include <ranges>

long sum() { return nopal::reduce(std::views::iota(0), 0L); }
