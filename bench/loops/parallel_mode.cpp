// The standard library's parallel mode: GCC's runs on oneTBB, and takes iterators.

#include <execution>

#include <oneapi/tbb/global_control.h>

#include "loops.hpp"

namespace {

// An iterator of numbers, whose references may be kept: std::for_each wants a forward iterator.
struct number {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = std::size_t const*;
  using reference = std::size_t;
  std::size_t at = 0;
  std::size_t operator*() const { return at; }
  std::size_t operator[](difference_type n) const { return at + static_cast<std::size_t>(n); }
  number& operator++() {
    ++at;
    return *this;
  }
  number operator++(int) { return {at++}; }
  number& operator--() {
    --at;
    return *this;
  }
  number operator--(int) { return {at--}; }
  number& operator+=(difference_type n) {
    at += static_cast<std::size_t>(n);
    return *this;
  }
  number& operator-=(difference_type n) {
    at -= static_cast<std::size_t>(n);
    return *this;
  }
  [[maybe_unused]] friend number operator+(number a, difference_type n) { return a += n; }
  [[maybe_unused]] friend number operator+(difference_type n, number a) { return a += n; }
  [[maybe_unused]] friend number operator-(number a, difference_type n) { return a -= n; }
  [[maybe_unused]] friend difference_type operator-(number a, number b) { return static_cast<difference_type>(a.at - b.at); }
  auto operator<=>(number const&) const = default;
};

struct parallel_mode {
  static constexpr const char* name = "parallel_mode";
  explicit parallel_mode(unsigned workers) : parallelism{oneapi::tbb::global_control::max_allowed_parallelism, workers} {}
  static std::string version() { return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE); }
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    std::for_each(std::execution::par, number{0}, number{n}, body);
  }
  oneapi::tbb::global_control parallelism;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<parallel_mode>(argc, argv); }
