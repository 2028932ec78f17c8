// GoogleTest's main, where the tests run on the workers' own threads, and no other thread runs any of their loops: for tests that count
// threads.

#include <gtest/gtest.h>

#include <nopal/pool.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return nopal::default_pool().submit([] { return RUN_ALL_TESTS(); }).get();
}
