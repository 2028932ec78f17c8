#define NOPAL_BENCH_SCHEDULE dynamic
#define NOPAL_BENCH_NAME "openmp_dynamic"
#include "openmp.cpp"
