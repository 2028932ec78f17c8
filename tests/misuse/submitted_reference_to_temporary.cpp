// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>
#include <string>

nopal::task<> child(std::string const& s) {
  (void)s;
  co_return;
}
void from_outside(nopal::pool& pool) { (void)pool.submit(child, std::string(100, 'x')); }
