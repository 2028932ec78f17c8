#include "loops.hpp"

namespace {

struct serial {
  static constexpr const char* name = "serial";
  explicit serial(unsigned) {}
  static std::string version() { return "serial"; }
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::run_loops<serial>(argc, argv); }
