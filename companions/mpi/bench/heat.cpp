// Heat on a square plate with cold edges, n x n points, by Jacobi's method. The ranks have strips of rows, and a rank's strip is blocks of rows. A
// row at a rank's edge needs the neighbour's row of the step before.
//
// plain, openmp: one step after the other: exchange, then compute. --overlap 1: the inner rows are computed between the beginning and the end
// of the exchange.
// nopal: a fiber for each block, which waits for the steps of its two neighbours, in this rank or another. So a message that is late holds back the
// block at that edge only, then the one beside it, a block each step. The others are not held to one step after the other: they go over the strip in
// sweeps of several steps, in which a block's rows stay in the cache.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

using distributed::computed;

constexpr double flow = 0.2;  // from a point to each neighbour in one step

// The strip of a rank: its rows of both states, with a row of the neighbour's above and below, of two steps too.
struct plate {
  plate(std::size_t points, int rank, int ranks) : n{points} {
    std::size_t const inner = n - 2;
    auto const r = static_cast<std::size_t>(rank);
    auto const all = static_cast<std::size_t>(ranks);
    first = 1 + inner * r / all;
    rows = 1 + inner * (r + 1) / all - first;
    for (auto& s : state) s.assign((rows + 2) * n, 0.0);
    for (std::size_t i = 0; i < rows + 2; ++i) {
      for (std::size_t j = 1; j + 1 < n; ++j) state[0][i * n + j] = state[1][i * n + j] = wave(first + i - 1, j);
    }
  }
  double* row(std::size_t step, std::size_t i) { return state[step % 2].data() + i * n; }  // 1 to rows; 0 and rows + 1: the neighbours'

  // Step `step` of the rows in [from, to).
  DISTRIBUTED_KERNEL void compute(std::size_t step, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      double const* const above = row(step, i - 1);
      double const* const here = row(step, i);
      double const* const below = row(step, i + 1);
      double* const next = row(step + 1, i);
      for (std::size_t j = 1; j + 1 < n; ++j) next[j] = here[j] + flow * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    }
  }

  // A wave that keeps its shape, and shrinks by the same factor in each step.
  double wave(std::size_t i, std::size_t j) const { return sine(3, i) * sine(2, j); }
  double factor() const {
    auto const part = [&](double p) { return std::pow(std::sin(p * unit() / 2), 2); };
    return 1 - 4 * flow * (part(3) + part(2));
  }
  bool is_correct_after(std::size_t steps) {
    double const shrunk = std::pow(factor(), static_cast<double>(steps));
    double most = 0;
    for (std::size_t i = 1; i <= rows; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double const off = std::abs(row(steps, i)[j] - (j == 0 || j + 1 == n ? 0 : shrunk * wave(first + i - 1, j)));
        if (!(off <= most)) most = off;
      }
    }
    return most < 1e-12;  // a point that misses one step is off by more than 1e-8
  }

  std::size_t n, first, rows;
  std::vector<double> state[2];

 private:
  double unit() const { return std::numbers::pi / static_cast<double>(n - 1); }
  double sine(double p, std::size_t i) const { return i == 0 || i + 1 == n ? 0 : std::sin(p * unit() * static_cast<double>(i)); }
};

enum tags { to_above, to_below };

struct run_of {
  plate& p;
  std::size_t steps, block, together;
  bool upwards;
  int above, below;  // ranks, or MPI_PROC_NULL
  computed& work;
  int count() const { return static_cast<int>(p.n); }
};

#if defined(NOPAL_DISTRIBUTED_NOPAL)

// An edge of the strip: the neighbour's rank, and the rows that go there and come from there. The fiber of the block at the edge begins the
// messages itself: a fiber of its own for them would run only when that block waits, a step later.
struct edge {
  int rank;
  int send_tag, receive_tag;
  std::size_t mine, theirs, at_block;
  MPI_Request sent = MPI_REQUEST_NULL;
  MPI_Request received = MPI_REQUEST_NULL;

  // The rows of state `s` set out: as soon as that is computed, so nobody reads what comes into its place.
  void exchange(run_of const& r, std::size_t s) {
    nopal::mpi::call([&] {
      MPI_Irecv(r.p.row(s, theirs), r.count(), MPI_DOUBLE, rank, receive_tag, MPI_COMM_WORLD, &received);
      MPI_Isend(r.p.row(s, mine), r.count(), MPI_DOUBLE, rank, send_tag, MPI_COMM_WORLD, &sent);
    });
  }
  // The neighbour's row has come, and the own one may be overwritten, as the next step does.
  void wait() {
    nopal::mpi::wait(received);
    nopal::mpi::wait(sent);
  }
};

// Each counter begins at the number of steps, and counts down.
//
// The blocks go over the strip in sweeps of `r.together` steps: a block makes its next step when the block before it in the sweep waits, so its
// rows are still in the cache. A sweep begins at one edge of the strip: at an edge that two ranks share, both begin, or both end.
void heat(run_of r) {
  auto const steps = static_cast<std::int64_t>(r.steps);
  std::size_t const blocks = (r.p.rows + r.block - 1) / r.block;
  std::vector<std::unique_ptr<nopal::counter>> done;  // by block
  for (std::size_t b = 0; b < blocks; ++b) done.push_back(std::make_unique<nopal::counter>(steps));
  auto const wait_for_block = [&](std::size_t b, std::size_t s) { nopal::wait_for(*done[b], steps - static_cast<std::int64_t>(s)); };
  auto const block_at = [&](std::size_t place) { return r.upwards ? blocks - 1 - place : place; };

  std::vector<edge> edges;
  if (r.above != MPI_PROC_NULL) edges.push_back({r.above, to_above, to_below, 1, 0, 0});
  if (r.below != MPI_PROC_NULL) edges.push_back({r.below, to_below, to_above, r.p.rows, r.p.rows + 1, blocks - 1});

  nopal::counter left;
  for (std::size_t place = 0; place < blocks; ++place) {
    nopal::spawn(left, [&, r, place] {
      std::size_t const b = block_at(place);
      std::size_t const from = 1 + b * r.block;
      std::size_t const to = std::min(from + r.block, r.p.rows + 1);
      auto const at_edges = [&](auto f) {
        for (edge& e : edges) {
          if (e.at_block == b) f(e);
        }
      };
      at_edges([&](edge& e) { e.exchange(r, 0); });
      for (std::size_t s = 0; s < r.steps; ++s) {
        if (s % r.together == 0) {  // a sweep
          if (place > 0) {
            wait_for_block(block_at(place - 1), s + 1);
            nopal::yield();  // blocks that have begun this sweep go first
          } else {
            wait_for_block(block_at(blocks - 1), s);
          }
        }
        if (b > 0) wait_for_block(b - 1, s);
        if (b + 1 < blocks) wait_for_block(b + 1, s);
        at_edges([](edge& e) { e.wait(); });
        r.work.piece(distributed::this_worker(), [&] { r.p.compute(s, from, to); });
        if (s + 1 < r.steps) at_edges([&](edge& e) { e.exchange(r, s + 1); });
        done[b]->done();
      }
    });
  }
  nopal::wait_for(left);
}

#else

void rows(run_of r, std::size_t step, std::size_t from, std::size_t to) {
#if defined(NOPAL_DISTRIBUTED_OPENMP)
  auto const blocks = static_cast<long>(to > from ? (to - from + r.block - 1) / r.block : 0);
#pragma omp parallel for schedule(static)
  for (long b = 0; b < blocks; ++b) {
    std::size_t const begin = from + static_cast<std::size_t>(b) * r.block;
    r.work.piece(distributed::this_worker(), [&] { r.p.compute(step, begin, std::min(begin + r.block, to)); });
  }
#else
  r.work.piece(0, [&] { r.p.compute(step, from, to); });
#endif
}

void heat(run_of r, bool overlap) {
  std::size_t const last = r.p.rows;
  for (std::size_t s = 0; s < r.steps; ++s) {
    MPI_Request exchange[4];
    MPI_Irecv(r.p.row(s, 0), r.count(), MPI_DOUBLE, r.above, to_below, MPI_COMM_WORLD, &exchange[0]);
    MPI_Irecv(r.p.row(s, last + 1), r.count(), MPI_DOUBLE, r.below, to_above, MPI_COMM_WORLD, &exchange[1]);
    MPI_Isend(r.p.row(s, 1), r.count(), MPI_DOUBLE, r.above, to_above, MPI_COMM_WORLD, &exchange[2]);
    MPI_Isend(r.p.row(s, last), r.count(), MPI_DOUBLE, r.below, to_below, MPI_COMM_WORLD, &exchange[3]);
    if (overlap && last > 2) rows(r, s, 2, last);
    MPI_Waitall(4, exchange, MPI_STATUSES_IGNORE);
    if (overlap && last > 2) {
      rows(r, s, 1, 2);
      rows(r, s, last, last + 1);
    } else {
      rows(r, s, 1, last + 1);
    }
  }
}

#endif

}  // namespace

int main(int argc, char** argv) {
  distributed::options const o{{{"n", 1026}, {"steps", 300}, {"block", 64}, {"together", 8}, {"workers", 1}, {"overlap", 0}}, argc, argv};
  auto const n = static_cast<std::size_t>(o["n"]);
  auto const workers = static_cast<unsigned>(o["workers"]);
  if (n < 4 || o["block"] < 1 || o["together"] < 1 || workers < 1)
    throw std::invalid_argument{"--n is at least 4, --block, --together and --workers at least 1"};
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  nopal::mpi::session session{argc, argv};
  nopal::pool pool{{.workers = workers}};
#else
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#if defined(NOPAL_DISTRIBUTED_OPENMP)
  omp_set_num_threads(static_cast<int>(workers));
#endif
#endif
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (n - 2 < static_cast<std::size_t>(ranks)) throw std::invalid_argument{"--n has at least one inner row for each rank"};
  plate p{n, rank, ranks};
  computed work{workers};
  run_of const r{p,
                 static_cast<std::size_t>(o["steps"]),
                 static_cast<std::size_t>(o["block"]),
                 static_cast<std::size_t>(o["together"]),
                 rank % 2 == 0,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL,
                 rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL,
                 work};
  char const* how = o["overlap"] != 0 ? "overlapped" : "one-after-the-other";
  MPI_Barrier(MPI_COMM_WORLD);
  double const began = distributed::now();
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  how = "by-dependencies";
  pool.run([&] { heat(r); });
#else
  heat(r, o["overlap"] != 0);
#endif
  double const seconds = distributed::now() - began;
  int const result = distributed::report("heat", how, std::to_string(n) + "x" + std::to_string(r.steps), workers, seconds, work.each(),
                                         p.is_correct_after(r.steps));
#if !defined(NOPAL_DISTRIBUTED_NOPAL)
  MPI_Finalize();
#endif
  return result;
}
