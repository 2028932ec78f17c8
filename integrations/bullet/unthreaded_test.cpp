// A Bullet that was built without threads, as Debian's is: nobody shall believe that it loops in parallel.

#include "nopal_bullet.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

TEST(bullet_unthreaded, is_refused) {
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  std::string said;
  try {
    btSetTaskScheduler(&ours);
  } catch (std::runtime_error const& e) {
    said = e.what();
  }
  EXPECT_EQ(said,
            "nopal::bullet_scheduler: this Bullet was built without threads, as Debian's libbullet-dev is, and its loops are "
            "serial: build it with "
            "-DBULLET2_MULTITHREADING=ON (vcpkg: bullet3[multithreading])");
  EXPECT_EQ(btGetTaskScheduler(), btGetSequentialTaskScheduler());
}

}  // namespace
