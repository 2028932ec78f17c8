// expect: nopal: a pool takes options. Write nopal::pool{{.workers = 4}} for pool{4}.
#include <nopal/nopal.hpp>

void root() { nopal::pool pool{4}; }
