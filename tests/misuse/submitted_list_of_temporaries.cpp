// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
#include <initializer_list>
#include <nopal/nopal.hpp>

int sum(std::initializer_list<int> all);

void from_outside(nopal::pool& pool) { pool.submit(sum, std::initializer_list<int>{1, 2, 3}).get(); }
