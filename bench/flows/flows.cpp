// What Taskflow's own benchmarks have (taskflow/taskflow, benchmarks/), and diamonds, each shape as a user of each library would write it:
// graphs, pipelines, tasks and loops. By hand: ../README.md.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>

#include "../runtimes/runtime.hpp"
#if defined(NOPAL_BENCH_TASKFLOW)
#include "on_taskflow.hpp"
#elif defined(NOPAL_BENCH_TBB)
#include "on_tbb.hpp"
#elif defined(NOPAL_BENCH_TASK)
#include "on_nopal.hpp"
#else
#include "on_serial.hpp"
#endif

namespace {

using bench::runtime;

struct shape {
  shape() = default;
  virtual ~shape() = default;
  shape(const shape&) = delete;
  shape& operator=(const shape&) = delete;
  virtual void reset() {}
  virtual void solve(runtime& on) = 0;
  [[nodiscard]] virtual bool correct() const = 0;
};

// A graph is made and run `Runs` times; each node counts how often it has run.
template <auto Make, std::uint32_t Runs>
struct graph_shape : shape {
  explicit graph_shape(std::size_t n) : edges{Make(n)}, ran(edges.size()) {}
  void reset() override { std::ranges::fill(ran, 0); }
  void solve(runtime& on) override {
    std::uint32_t* const of = ran.data();
    flows::graph made{edges, [of](std::size_t k) { ++of[k]; }};
    for (std::uint32_t k = 0; k < Runs; ++k) made.run(on);
  }
  [[nodiscard]] bool correct() const override {
    return std::ranges::all_of(ran, [](std::uint32_t times) { return times == Runs; });
  }
  flows::network edges;
  std::vector<std::uint32_t> ran;
};

// One node, two that follow it, and one that follows both; run again and again, each time by the main thread.
struct diamonds_shape : shape {
  explicit diamonds_shape(std::size_t n) : times{n} {}
  void reset() override { ran = {}; }
  void solve(runtime& on) override {
    flows::graph made{edges, [this](std::size_t k) { ++ran[k]; }};
    for (std::size_t k = 0; k < times; ++k) made.run(on);
  }
  [[nodiscard]] bool correct() const override {
    return std::ranges::all_of(ran, [this](std::size_t n) { return n == times; });
  }
  std::size_t times;
  flows::network edges = flows::diamond();
  std::array<std::size_t, 4> ran{};
};

template <bool Serial, bool Works>
struct pipeline_shape : shape {
  explicit pipeline_shape(std::size_t n) : items{n} {}
  void reset() override { out = 0; }
  void solve(runtime& on) override {
    const auto step = [](std::size_t x) { return Works ? flows::work(x) : x + 1; };
    flows::pipeline<Serial>(on, items, step, [this](std::size_t x) { out += x; });
  }
  [[nodiscard]] bool correct() const override {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < items; ++k) sum += Works ? flows::work(flows::work(k)) : k + 2;
    return out == sum;
  }
  std::size_t items;
  std::size_t out = 0;
};

struct typed_pipeline_shape : shape {
  explicit typed_pipeline_shape(std::size_t n) : items{n} {}
  void solve(runtime& on) override { sum = flows::typed_pipeline(on, items); }
  [[nodiscard]] bool correct() const override { return sum == items * (items - 1) / 2; }
  std::size_t items;
  std::size_t sum = 0;
};

struct graph_pipeline_shape : shape {
  explicit graph_pipeline_shape(std::size_t n) : all{n} {}
  void solve(runtime& on) override { flows::graph_pipeline(on, all); }
  [[nodiscard]] bool correct() const override {
    flows::numbered_levels serial{all.value.size()};
    for (std::size_t k = 0; k < serial.value.size(); ++k) {
      serial.own(k);
      serial.twice(k);
      serial.with_those_before(k);
    }
    return serial.value == all.value;
  }
  flows::numbered_levels all;
};

struct nqueens_shape : shape {
  explicit nqueens_shape(std::size_t n) : size{n} {
    if (n >= known.size())
      throw std::invalid_argument{"queens: --size is at most " + std::to_string(known.size() - 1) + ", not " + std::to_string(n)};
  }
  void solve(runtime& on) override { found = flows::nqueens(on, size); }
  [[nodiscard]] bool correct() const override { return found == known[size]; }
  static constexpr std::array<long, 17> known = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
  std::size_t size;
  long found = 0;
};

struct skynet_shape : shape {
  explicit skynet_shape(std::size_t depth) {
    if (depth > 9)
      throw std::invalid_argument{"skynet: --size is the depth of a tree of ten children each, at most 9, not " + std::to_string(depth)};
    for (std::size_t k = 0; k < depth; ++k) leaves *= 10;
  }
  void solve(runtime& on) override { sum = flows::skynet(on, leaves); }
  [[nodiscard]] bool correct() const override { return sum == leaves * (leaves - 1) / 2; }
  long leaves = 1;
  long sum = 0;
};

struct jobs_shape : shape {
  explicit jobs_shape(std::size_t n) : ran(n) {}
  void reset() override { std::ranges::fill(ran, 0); }
  void solve(runtime& on) override {
    std::uint32_t* const of = ran.data();
    flows::jobs(on, ran.size(), [of](std::size_t k) { ++of[k]; });
  }
  [[nodiscard]] bool correct() const override {
    return std::ranges::all_of(ran, [](std::uint32_t times) { return times == 1; });
  }
  std::vector<std::uint32_t> ran;
};

template <auto Sort>
struct sort_shape : shape {
  explicit sort_shape(std::size_t n) : given(n) {
    std::mt19937 random{1};
    for (double& x : given) x = static_cast<double>(random()) / 4294967296.0;
  }
  void reset() override { sorted = given; }
  void solve(runtime& on) override { Sort(on, sorted); }
  [[nodiscard]] bool correct() const override {
    std::vector<double> by_std = given;
    std::ranges::sort(by_std);
    return by_std == sorted;
  }
  std::vector<double> given;
  std::vector<double> sorted;
};

struct for_each_shape : shape {
  explicit for_each_shape(std::size_t n) : v(n) {}
  void reset() override {
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(k % 1000) / 1000;
  }
  void solve(runtime& on) override {
    double* const of = v.data();
    flows::loop(on, v.size(), [of](std::size_t k) { of[k] = std::tan(of[k]); });
  }
  [[nodiscard]] bool correct() const override {
    for (std::size_t k = 0; k < v.size(); ++k)
      if (std::abs(v[k] - std::tan(static_cast<double>(k % 1000) / 1000)) > 1e-12) return false;
    return true;
  }
  std::vector<double> v;
};

struct mandelbrot_shape : shape {
  explicit mandelbrot_shape(std::size_t n) : side{n}, rounds(n * n) {}
  [[nodiscard]] int at(std::size_t row, std::size_t column) const {
    const double step = 3.0 / static_cast<double>(side);
    return flows::escape(static_cast<double>(column) * step - 2, static_cast<double>(row) * step - 1.5);
  }
  void solve(runtime& on) override {
    flows::loop(on, side, [this](std::size_t row) {
      for (std::size_t column = 0; column < side; ++column) rounds[row * side + column] = at(row, column);
    });
  }
  [[nodiscard]] bool correct() const override {
    for (std::size_t row = 0; row < side; row += 7)
      for (std::size_t column = 0; column < side; ++column)
        if (rounds[row * side + column] != at(row, column)) return false;
    return true;
  }
  std::size_t side;
  std::vector<int> rounds;
};

struct matmul_shape : shape {
  explicit matmul_shape(std::size_t n) : side{n}, a(n * n), b(n * n), c(n * n) {}
  void solve(runtime& on) override {
    flows::after_two_loops(
        on, side,
        [this](std::size_t i) {
          for (std::size_t j = 0; j < side; ++j) a[i * side + j] = static_cast<double>(i + j);
        },
        [this](std::size_t i) {
          for (std::size_t j = 0; j < side; ++j) b[i * side + j] = static_cast<double>(i) - static_cast<double>(j);
        },
        [this](std::size_t i) {
          double* const row = &c[i * side];
          std::fill(row, row + side, 0.0);
          for (std::size_t k = 0; k < side; ++k)
            for (std::size_t j = 0; j < side; ++j) row[j] += a[i * side + k] * b[k * side + j];
        });
  }
  [[nodiscard]] bool correct() const override {  // all are whole numbers, and small: exact
    for (std::size_t i = 0; i < side; i += 5) {
      for (std::size_t j = 0; j < side; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < side; ++k) sum += static_cast<double>(i + k) * (static_cast<double>(k) - static_cast<double>(j));
        if (c[i * side + j] != sum) return false;
      }
    }
    return true;
  }
  std::size_t side;
  std::vector<double> a, b, c;
};

// The same prices twenty times, as there.
struct black_scholes_shape : shape {
  explicit black_scholes_shape(std::size_t n) : prices(n) {}
  static double at(std::size_t k) {
    return flows::price(50 + static_cast<double>(k % 100), 100, 0.03, 0.2, 0.5 + static_cast<double>(k % 7));
  }
  void reset() override { std::ranges::fill(prices, 0); }
  void solve(runtime& on) override {
    double* const of = prices.data();
    flows::again_and_again(on, 20, prices.size(), [of](std::size_t k) { of[k] = at(k); });
  }
  [[nodiscard]] bool correct() const override {
    for (std::size_t k = 0; k < prices.size(); ++k)
      if (std::abs(prices[k] - at(k)) > 1e-9) return false;
    return true;
  }
  std::vector<double> prices;
};

struct primes_shape : shape {
  explicit primes_shape(std::size_t n) : below{n} {}
  void solve(runtime& on) override { found = flows::primes(on, below); }
  [[nodiscard]] bool correct() const override {
    std::vector<bool> composite(below);  // by a sieve
    std::size_t count = 0;
    for (std::size_t k = 2; k < below; ++k) {
      if (composite[k]) continue;
      ++count;
      for (std::size_t of = k * k; of < below; of += k) composite[of] = true;
    }
    return found == count;
  }
  std::size_t below;
  std::size_t found = 0;
};

struct reduce_sum_shape : shape {
  explicit reduce_sum_shape(std::size_t n) : v(n) {
    for (std::size_t k = 0; k < n; ++k) v[k] = static_cast<double>(k % 1024);
  }
  void solve(runtime& on) override { sum = flows::sum(on, v); }
  [[nodiscard]] bool correct() const override {  // whole numbers: exact in any order
    double expected = 0;
    for (const double x : v) expected += x;
    return sum == expected;
  }
  std::vector<double> v;
  double sum = 0;
};

struct scan_shape : shape {
  explicit scan_shape(std::size_t n) : from(n), to(n) {
    for (std::size_t k = 0; k < n; ++k) from[k] = static_cast<long>(k % 10);
  }
  void reset() override { std::ranges::fill(to, 0); }
  void solve(runtime& on) override { flows::scan(on, from, to); }
  [[nodiscard]] bool correct() const override {
    long sum = 0;
    for (std::size_t k = 0; k < from.size(); ++k)
      if (to[k] != (sum += from[k])) return false;
    return true;
  }
  std::vector<long> from;
  std::vector<long> to;
};

struct kind {
  bench::named_sizes sizes;
  std::unique_ptr<shape> (*make)(std::size_t);
};
template <class Shape>
std::unique_ptr<shape> made(std::size_t n) {
  return std::make_unique<Shape>(n);
}
constexpr bench::named_sizes of_graphs{.smoke = 100, .standard = 65'536, .paper = 1'048'576};
constexpr bench::named_sizes of_loops{.smoke = 1'000, .standard = 1'048'576, .paper = 16'777'216};
constexpr std::uint32_t again = 10;

const std::map<std::string, kind> kinds = {
    {"chain", {of_graphs, made<graph_shape<flows::chain, 1>>}},
    {"chain-again", {of_graphs, made<graph_shape<flows::chain, again>>}},
    {"tree", {of_graphs, made<graph_shape<flows::tree, 1>>}},
    {"tree-again", {of_graphs, made<graph_shape<flows::tree, again>>}},
    {"wavefront", {of_graphs, made<graph_shape<flows::wavefront, 1>>}},
    {"wavefront-again", {of_graphs, made<graph_shape<flows::wavefront, again>>}},
    {"traversal", {of_graphs, made<graph_shape<flows::levels, 1>>}},
    {"traversal-again", {of_graphs, made<graph_shape<flows::levels, again>>}},
    {"apart", {of_graphs, made<graph_shape<flows::apart, 1>>}},
    {"apart-again", {of_graphs, made<graph_shape<flows::apart, again>>}},
    {"diamonds", {{.smoke = 10, .standard = 10'000, .paper = 100'000}, made<diamonds_shape>}},
    {"pipeline", {of_graphs, made<pipeline_shape<false, true>>}},
    {"pipeline-serial", {of_graphs, made<pipeline_shape<true, true>>}},
    {"pipeline-empty", {of_graphs, made<pipeline_shape<false, false>>}},
    {"pipeline-typed", {of_graphs, made<typed_pipeline_shape>}},
    {"pipeline-graph", {of_graphs, made<graph_pipeline_shape>}},
    {"queens", {{.smoke = 6, .standard = 11, .paper = 14}, made<nqueens_shape>}},
    {"skynet", {{.smoke = 2, .standard = 6, .paper = 8}, made<skynet_shape>}},
    {"jobs", {of_graphs, made<jobs_shape>}},
    {"merge-sort", {{.smoke = 5'000, .standard = 1'048'576, .paper = 16'777'216}, made<sort_shape<flows::merge_sort>>}},
    {"std-sort", {of_loops, made<sort_shape<flows::sort>>}},
    {"for-each", {of_loops, made<for_each_shape>}},
    {"mandelbrot", {{.smoke = 16, .standard = 512, .paper = 4'096}, made<mandelbrot_shape>}},
    {"matrices", {{.smoke = 16, .standard = 512, .paper = 2'048}, made<matmul_shape>}},
    {"black-scholes", {{.smoke = 100, .standard = 100'000, .paper = 1'000'000}, made<black_scholes_shape>}},
    {"primes", {{.smoke = 1'000, .standard = 2'000'000, .paper = 100'000'000}, made<primes_shape>}},
    {"reduce-sum", {of_loops, made<reduce_sum_shape>}},
    {"scan", {of_loops, made<scan_shape>}},
};

const kind& kind_of(const std::string& name) {
  if (const auto found = kinds.find(name); found != kinds.end()) return found->second;
  std::string all;
  for (const auto& [other, _] : kinds) all += (all.empty() ? "" : ", ") + other;
  throw std::invalid_argument{"no shape '" + name + "'; --shape takes " + all};
}

struct flows_problem {
  static constexpr const char* name = "flows";
  explicit flows_problem(const bench::options& opts) : n{bench::pick(opts, kind_of(opts.shape).sizes)}, of{kind_of(opts.shape).make(n)} {}
  void reset() { of->reset(); }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] bool correct() const { return of->correct(); }
  [[nodiscard]] std::string answer_text() const { return correct() ? "right" : "wrong"; }
  std::size_t n;
  std::unique_ptr<shape> of;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<flows_problem>(argc, argv, [](runtime& on, flows_problem& problem) { problem.of->solve(on); });
}
