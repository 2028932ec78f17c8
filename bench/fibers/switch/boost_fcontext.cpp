// Boost.Context's own primitive, beneath its public classes.

#include <boost/context/detail/fcontext.hpp>

#include <vector>

#include "../../runtimes/boost.hpp"
#include "switch.hpp"

namespace {

namespace context = boost::context::detail;

struct ping_pong {
  bench::switches<>* problem;
  context::fcontext_t begin, b;
};
ping_pong now;

void first(context::transfer_t from) {
  now.begin = from.fctx;
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(0);
    now.b = context::jump_fcontext(now.b, nullptr).fctx;
  }
  context::jump_fcontext(now.b, nullptr);
}

void second(context::transfer_t from) {
  for (std::size_t i = 0; i < now.problem->turns; ++i) {
    now.problem->turn(1);
    from = context::jump_fcontext(from.fctx, nullptr);
  }
  context::jump_fcontext(now.begin, nullptr);
}

context::fcontext_t prepare(std::vector<std::byte>& stack, void (*body)(context::transfer_t)) {
  return context::make_fcontext(stack.data() + stack.size(), stack.size(), body);
}

void run(bench::switches<>& problem) {
  std::vector<std::byte> a(64 * 1024);
  std::vector<std::byte> b(64 * 1024);
  now = {&problem, nullptr, prepare(b, second)};
  context::jump_fcontext(prepare(a, first), nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::switches<>, bench::boost_runtime>(argc, argv, "boost_fcontext", [](auto&, auto& problem) { run(problem); });
}
