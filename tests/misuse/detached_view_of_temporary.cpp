// expect: nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>
#include <string>
#include <string_view>

nopal::task<> log(std::string_view line);

void from_outside(nopal::pool& pool) { pool.detach(log, std::string(100, 'x')); }
