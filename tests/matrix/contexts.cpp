#include "contexts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "nopal/nopal.hpp"

namespace test::matrix {

namespace {

using work = std::function<outcome()>;

template <unsigned Workers>
nopal::pool& pool_of() {
  static nopal::pool pool{{.workers = Workers}};
  return pool;
}
std::vector<outcome> off_pool(work const& f) { return {f()}; }
template <unsigned Workers>
std::vector<outcome> on_pool(work const& f) {
  return {pool_of<Workers>().run([&] { return f(); })};
}
nopal::task<outcome> as_task(work const& f) { co_return f(); }
std::vector<outcome> in_a_task(work const& f) { return {pool_of<2>().run(as_task, f)}; }
std::vector<outcome> in_a_fiber(work const& f) {
  outcome result;
  nopal::counter left;
  pool_of<2>().run([&] {
    nopal::spawn(left, [&] { result = f(); });
    nopal::wait_for(left);
  });
  return {result};
}
std::vector<outcome> in_a_loop(work const& f) {
  std::vector<outcome> results(3);
  pool_of<5>().run([&] { nopal::parallel_for(0, 3, [&](int i) { results[static_cast<std::size_t>(i)] = f(); }); });
  return results;
}

std::string text(outcome const& numbers) {
  std::string result;
  for (auto const n : numbers) (result += ' ') += std::to_string(n);
  return result;
}

}  // namespace

std::vector<context> const& contexts() {
  static std::vector<context> const all = {{"off a pool", off_pool},       {"on a pool of 1", on_pool<1>}, {"on a pool of 2", on_pool<2>},
                                           {"on a pool of 5", on_pool<5>}, {"in a task", in_a_task},       {"in a fiber", in_a_fiber},
                                           {"in another loop", in_a_loop}};
  return all;
}

bool agree(std::vector<outcome> const& got, outcome const& expected, char const* range, char const* projection, char const* algorithm,
           std::size_t n, char const* where) {
  bool same = !got.empty();
  for (auto const& each : got) {
    if (each == expected) continue;
    ADD_FAILURE() << algorithm << " of " << n << " of " << range << " by " << projection << ", " << where << ":" << text(each)
                  << ", and std::ranges has" << text(expected);
    same = false;
    break;
  }
  return same;
}

}  // namespace test::matrix
