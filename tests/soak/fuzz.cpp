// nopal_fuzz: libFuzzer writes the tape. See README.md.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "stand.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace soak;
  // Pools cost more than programs: those that a tape asks for are kept, and few different heads of tapes are allowed.
  constexpr unsigned heads = 16;
  static std::map<unsigned, stand> stands;
  static totals all;
  reader in{data, size};
  unsigned const which = in.next() % heads;
  tape const head = random_tape(which, settings::bytes);
  settings how{head.data(), head.size(), {1, 2, 3}, 0};
  how.callers = 1;
  how.most.nodes = 100;
  how.most.default_pool = false;
  stand& where = stands.try_emplace(which, how).first->second;
  program p{data + (size != 0), size - (size != 0), how.most};
  if (std::string const wrong = where.try_out(p, all); !wrong.empty()) {
    std::fprintf(stderr, "WRONG: %s\n  on %s\n%s", wrong.c_str(), how.text().c_str(), where.report().c_str());
    std::abort();
  }
  return 0;
}
