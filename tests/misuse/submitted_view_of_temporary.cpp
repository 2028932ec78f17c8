// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>
#include <span>
#include <vector>

int sum(std::span<int const> all);

void from_outside(nopal::pool& pool) { pool.submit(sum, std::vector{1, 2, 3}).get(); }
