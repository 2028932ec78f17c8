// expect: nopal: this range has no end
#include <nopal/nopal.hpp>
#include <ranges>
#include <vector>

void unite(std::vector<int>& a, std::vector<int>& out) { nopal::set_union(a, std::views::iota(0), out.begin()); }
