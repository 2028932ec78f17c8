// expect: nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job does.
#include <nopal/nopal.hpp>

struct object {
  int method() const;
};

void from_outside(nopal::pool& pool) { pool.submit(&object::method, object{}).get(); }
