#define NOPAL_BENCH_SCHEDULE guided
#define NOPAL_BENCH_NAME "openmp_guided"
#include "openmp.cpp"
