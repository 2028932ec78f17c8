// A Python module whose functions loop on nopal: loops that know nothing of Python, and a loop that calls Python. README.md has the rules.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nopal/nopal.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace nb = nanobind;

namespace {

using numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// No thread of Python's holds its lock while nopal loops: other threads of the program run Python meanwhile.

void sort(numbers a) {
  std::span<double> const all{a.data(), a.size()};
  nb::gil_scoped_release const released;
  nopal::sort(all);
}

double sum(numbers a) {
  std::span<double const> const all{a.data(), a.size()};
  nb::gil_scoped_release const released;
  return nopal::reduce(all);
}

/// For a loop whose bodies call Python.
///
/// Python's lock belongs to a thread: the one that has taken it must give it back. So (1) the loop begins without the lock, (2) a body takes it
/// for as long as it calls Python, and (3) `stay` keeps the body on its thread meanwhile: Python may call this module again, which forks and
/// waits, and would else come back on another thread. `stay` is made before the lock is taken, and ends after it is given back.
nb::list map(nb::callable f, std::size_t n) {
  std::vector<nb::object> results(n);
  {
    nb::gil_scoped_release const released;
    nopal::parallel_for(
        std::size_t{0}, n,
        [&](std::size_t i) {
          nopal::stay const here;
          nb::gil_scoped_acquire const locked;
          results[i] = f(i);
        },
        nopal::grain{1});
  }
  nb::list all;
  for (nb::object& r : results) all.append(r);
  return all;
}

unsigned workers() { return nopal::default_pool().workers(); }

/// Ends the pool's threads, before os.fork() or at the end of a test.
bool shutdown(double seconds) {
  nb::gil_scoped_release const released;
  return static_cast<bool>(nopal::shutdown(std::chrono::duration<double>{seconds}));
}

}  // namespace

NB_MODULE(nopal_example, m) {
  m.doc() = "Loops on nopal's default pool. The environment variable NOPAL_WORKERS sets its number of workers.";
  m.def("sort", &sort, nb::arg("a").noconvert(), "Sorts an array of doubles in place.");
  m.def("sum", &sum, nb::arg("a").noconvert(), "The sum of an array of doubles: the same bits on any number of workers.");
  m.def("map", &map, nb::arg("f"), nb::arg("n"), "[f(0), ..., f(n - 1)]: f runs under Python's lock, what f calls in here does not.");
  m.def("workers", &workers, "How many workers the pool has.");
  m.def("shutdown", &shutdown, nb::arg("seconds"), "Ends the pool's threads, once all has ended that runs. False if that takes too long.");
}
