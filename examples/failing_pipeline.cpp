// A pipeline with a stage that fails: the numbers of a text are read, inverted and added up, and one of them is 0. The stage that fails
// closes the channel after it with its exception, which the next stage gets once it has taken all earlier values. It also closes the
// channel before it, so that push tells the stage before that no stage takes its values any more. All stages end.
// Work and span O(n) for a text of n numbers: the stages run at the same time, each by itself.

#include <nopal/fiber.hpp>

#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>

// Calls f(value, out) for each value of `in`.
template <class T, class U, class F>
void stage(nopal::channel<T>& in, nopal::channel<U>& out, F f) {
  std::exception_ptr failure;
  try {
    for (T& value : in) {
      if (!f(value, out)) break;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  in.close();
  out.close(failure);
}

int main() {
  nopal::channel<std::string> texts{1};
  nopal::channel<double> numbers{4}, inverses{4};
  nopal::counter stages;
  nopal::spawn(stages, [&] {
    stage(texts, numbers, [](std::string const& text, nopal::channel<double>& out) {
      std::istringstream words{text};
      for (double x = 0; words >> x;) {
        if (!out.push(x)) return false;
      }
      return true;
    });
  });
  nopal::spawn(stages, [&] {
    stage(numbers, inverses, [](double x, nopal::channel<double>& out) {
      if (x == 0) throw std::domain_error{"0 has no inverse"};
      return out.push(1 / x);
    });
  });

  texts.push("1 2 4 0 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5");
  texts.close();
  double sum = 0;
  std::string why;
  try {
    for (double x : inverses) sum += x;
  } catch (std::domain_error const& e) {
    why = e.what();
  }
  nopal::wait_for(stages);
  std::printf("%g, then: %s\n", sum, why.c_str());
  return sum == 1.75 && why == "0 has no inverse" ? 0 : 1;
}
