// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>
#include <string>

void log(std::string const& line);

void from_outside(nopal::pool& pool) { pool.detach(log, std::string(100, 'x')); }
