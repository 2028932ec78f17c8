// One rank: what is not allowed throws, with a message that says what to do; then a session that attaches to the program's own MPI.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mpi.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace {

namespace mpi = nopal::mpi;

template <class F>
std::string logic_error_of(F f) {
  try {
    f();
  } catch (std::logic_error const& e) {
    return e.what();
  }
  return "no error";
}
testing::AssertionResult has(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
}

void expect_no_session() {
  MPI_Request none = MPI_REQUEST_NULL;
  EXPECT_TRUE(has(logic_error_of([&] { mpi::wait(none); }), "mpi::wait needs a session"));
  EXPECT_TRUE(has(logic_error_of([] { mpi::wait_all({}); }), "mpi::wait_all needs a session"));
  EXPECT_TRUE(has(logic_error_of([] { mpi::wait_any({}); }), "mpi::wait_any needs a session"));
  EXPECT_TRUE(has(logic_error_of([] { mpi::barrier(MPI_COMM_WORLD); }), "MPI_Barrier needs a session"));
  EXPECT_TRUE(has(logic_error_of([] { mpi::call([] {}); }), "mpi::call needs a session"));
  mpi::poll();
}

// Another thread makes pools, for which it asks for the session: so its lock is often taken at the moment of a fork.
void expect_refused_in_children(mpi::session const& s) {
  std::atomic<bool> enough{false};
  std::thread other{[&] {
    while (!enough) nopal::pool{{.workers = 1}}.run([] {});
  }};
  for (int k = 0; k < 20; ++k) {
    pid_t const child = ::fork();
    if (child == 0) {
      ::alarm(60);  // ends it if it hangs
      mpi::poll();
      nopal::pool{{.workers = 1}}.run([] {});
      bool const right = s.rank() == 0 && s.size() == 1 &&
                         has(logic_error_of([] { mpi::barrier(MPI_COMM_WORLD); }), "MPI_Barrier was called in the child of a fork") &&
                         has(logic_error_of([] { mpi::call([] {}); }), "mpi::call was called in the child of a fork") &&
                         has(logic_error_of([&] { static_cast<void>(s.events()); }), "in the child of a fork") &&
                         has(logic_error_of([] { mpi::session two{mpi::session::attach{}}; }), "in the child of a fork");
      s.~session();  // does nothing
      k % 2 == 0 ? std::_Exit(right ? 7 : 1) : std::exit(right ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  }
  enough = true;
  other.join();
}

TEST(misuse, throws_and_says_what_to_do) {
  int argc = 0;
  char** argv = nullptr;
  expect_no_session();
  EXPECT_TRUE(has(logic_error_of([] { mpi::session s{mpi::session::attach{}}; }), "write session s{argc, argv}"));
  EXPECT_TRUE(has(logic_error_of([&] { mpi::session s{argc, argv, {.threads = 77}}; }), "threads = 77 is no thread level"));

  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  EXPECT_TRUE(has(logic_error_of([&] { mpi::session s{argc, argv}; }), "write session s{session::attach{}}"));
  MPI_Errhandler before = MPI_ERRHANDLER_NULL, after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  for (int k = 0; k < 3; ++k) {  // one after the other
    mpi::session s{mpi::session::attach{}};
    EXPECT_EQ(s.threads(), given);
    EXPECT_TRUE(has(logic_error_of([] { mpi::session two{mpi::session::attach{}}; }), "there is a session already"));
    nopal::pool pool{{.workers = 1}};
    int const own = pool.run([] {
      int x = 7, y = 0;
      nopal::parallel_invoke([&] { mpi::send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF); },
                             [&] { mpi::recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF); });
      return y;
    });
    EXPECT_EQ(own, 7);
    if (k == 0) expect_refused_in_children(s);
  }
  // A job that makes the session leaves its worker while MPI begins: others poll there, make pools, and are refused another session.
  nopal::pool one{{.workers = 1}};
  one.run([] {
    nopal::counter others;
    nopal::spawn(others, [] {
      mpi::poll();
      nopal::pool{{.workers = 1}}.run([] {});
      EXPECT_TRUE(has(logic_error_of([] { mpi::session two{mpi::session::attach{}}; }), "there is a session already"));
    });
    mpi::session const s{mpi::session::attach{}};
    nopal::wait_for(others);
  });
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
  EXPECT_EQ(before, after);
  expect_no_session();
  MPI_Finalize();
  EXPECT_TRUE(has(logic_error_of([&] { mpi::session s{argc, argv}; }), "MPI was finalised"));
  EXPECT_TRUE(has(logic_error_of([] { mpi::session s{mpi::session::attach{}}; }), "MPI was finalised"));
}

}  // namespace
