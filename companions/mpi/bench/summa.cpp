// SUMMA: C = A B, n x n, on a grid of ranks, each with a block of each matrix. Panel after panel of columns of A goes along the rows of the grid,
// and one of rows of B along its columns; each rank adds their product to its block of C. All numbers are whole, so the result is exact.
//
// plain, openmp: a panel is received, then multiplied. --overlap 1: the next panel is received during the product.
// nopal: up to --ahead panels are under way or wait, while the pool multiplies.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

using distributed::computed;

double a_at(std::size_t i, std::size_t k) { return static_cast<double>((i + 2 * k) % 7) - 3; }
double b_at(std::size_t k, std::size_t j) { return static_cast<double>((3 * k + j) % 5) - 2; }

struct part {  // of [0, n), in `parts`
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
  static part of(std::size_t n, std::size_t i, std::size_t parts) { return {n * i / parts, n * (i + 1) / parts}; }
};

struct panel {
  std::vector<double> a, b;  // rows of C x width, width x columns of C
  std::vector<MPI_Request> requests;
};

struct product {
  product(std::size_t size, std::size_t panel_width, int rank, int ranks) : n{size}, width{panel_width} {
    grid_rows = 1;
    for (std::size_t r = 1; r * r <= static_cast<std::size_t>(ranks); ++r) {
      if (static_cast<std::size_t>(ranks) % r == 0) grid_rows = r;
    }
    grid_columns = static_cast<std::size_t>(ranks) / grid_rows;
    my_row = static_cast<std::size_t>(rank) / grid_columns;
    my_column = static_cast<std::size_t>(rank) % grid_columns;
    rows = part::of(n, my_row, grid_rows);
    columns = part::of(n, my_column, grid_columns);
    c.assign(rows.size() * columns.size(), 0.0);
  }
  std::size_t panels() const { return (n + width - 1) / width; }
  std::size_t begin_of(std::size_t k) const { return k * width; }
  std::size_t width_of(std::size_t k) const { return std::min(width, n - k * width); }
  // A panel is where its first column of A, or row of B, is.
  static std::size_t owner(std::size_t at, std::size_t n, std::size_t parts) {
    for (std::size_t i = 0; i < parts; ++i) {
      if (at < part::of(n, i, parts).end) return i;
    }
    return parts - 1;
  }
  int rank_at(std::size_t row, std::size_t column) const { return static_cast<int>(row * grid_columns + column); }

  // Begins to send panel k, if it is here, and to receive it otherwise. `p.requests` are what is to be waited for.
  void begin(std::size_t k, panel& p) const {
    std::size_t const w = width_of(k);
    std::size_t const from = begin_of(k);
    p.a.resize(rows.size() * w);
    p.b.resize(w * columns.size());
    p.requests.clear();
    std::size_t const owns_a = owner(from, n, grid_columns);
    std::size_t const owns_b = owner(from, n, grid_rows);
    auto const tag = static_cast<int>(2 * k);
    if (owns_a == my_column) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < w; ++j) p.a[i * w + j] = a_at(rows.begin + i, from + j);
      }
      for (std::size_t to = 0; to < grid_columns; ++to) {
        if (to != my_column)
          MPI_Isend(p.a.data(), static_cast<int>(p.a.size()), MPI_DOUBLE, rank_at(my_row, to), tag, MPI_COMM_WORLD, &add(p));
      }
    } else {
      MPI_Irecv(p.a.data(), static_cast<int>(p.a.size()), MPI_DOUBLE, rank_at(my_row, owns_a), tag, MPI_COMM_WORLD, &add(p));
    }
    if (owns_b == my_row) {
      for (std::size_t i = 0; i < w; ++i) {
        for (std::size_t j = 0; j < columns.size(); ++j) p.b[i * columns.size() + j] = b_at(from + i, columns.begin + j);
      }
      for (std::size_t to = 0; to < grid_rows; ++to) {
        if (to != my_row)
          MPI_Isend(p.b.data(), static_cast<int>(p.b.size()), MPI_DOUBLE, rank_at(to, my_column), tag + 1, MPI_COMM_WORLD, &add(p));
      }
    } else {
      MPI_Irecv(p.b.data(), static_cast<int>(p.b.size()), MPI_DOUBLE, rank_at(owns_b, my_column), tag + 1, MPI_COMM_WORLD, &add(p));
    }
  }

  // The rows in [from, to) of what panel k adds to C.
  DISTRIBUTED_KERNEL void multiply(std::size_t k, panel const& p, std::size_t from, std::size_t to) {
    std::size_t const w = width_of(k);
    std::size_t const m = columns.size();
    for (std::size_t i = from; i < to; ++i) {
      double* const into = c.data() + i * m;
      for (std::size_t l = 0; l < w; ++l) {
        double const x = p.a[i * w + l];
        double const* const row = p.b.data() + l * m;
        for (std::size_t j = 0; j < m; ++j) into[j] += x * row[j];
      }
    }
  }

  // Each entry depends on i mod 7 and j mod 5 only.
  bool is_correct() const {
    std::array<std::array<double, 5>, 7> sums{};
    for (std::size_t i = 0; i < 7; ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        for (std::size_t k = 0; k < n; ++k) sums[i][j] += a_at(i, k) * b_at(k, j);
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < columns.size(); ++j) {
        if (c[i * columns.size() + j] != sums[(rows.begin + i) % 7][(columns.begin + j) % 5]) return false;
      }
    }
    return true;
  }

  std::size_t n, width;
  std::size_t grid_rows = 1, grid_columns = 1, my_row = 0, my_column = 0;
  part rows{}, columns{};
  std::vector<double> c;

 private:
  static MPI_Request& add(panel& p) {
    if (p.requests.capacity() < 64) p.requests.reserve(64);  // MPI has their addresses no longer than its call
    return p.requests.emplace_back(MPI_REQUEST_NULL);
  }
};

constexpr std::size_t block = 16;  // rows

void multiply_all(product& p, std::size_t k, panel const& with, computed& work) {
  std::size_t const rows = p.rows.size();
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  nopal::parallel_for(std::size_t{0}, (rows + block - 1) / block, [&](std::size_t b) {
    work.piece(distributed::this_worker(), [&] { p.multiply(k, with, b * block, std::min((b + 1) * block, rows)); });
    nopal::mpi::poll();  // what has arrived meanwhile goes first: on one worker nobody else would look
  });
#else
  auto const blocks = static_cast<long>((rows + block - 1) / block);
#if defined(NOPAL_DISTRIBUTED_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (long i = 0; i < blocks; ++i) {
    auto const b = static_cast<std::size_t>(i);
    work.piece(distributed::this_worker(), [&] { p.multiply(k, with, b * block, std::min((b + 1) * block, rows)); });
  }
#endif
}

#if defined(NOPAL_DISTRIBUTED_NOPAL)

// `ahead` panels are free at first. One fiber begins what they receive, in order, and each is waited for by a fiber of its own.
void summa(product& p, std::size_t ahead, computed& work) {
  std::size_t const panels = p.panels();
  std::vector<panel> slots(ahead);
  nopal::semaphore free{static_cast<std::ptrdiff_t>(ahead)};
  std::vector<std::unique_ptr<nopal::counter>> here;
  for (std::size_t k = 0; k < panels; ++k) here.push_back(std::make_unique<nopal::counter>(1));
  nopal::counter left;
  nopal::spawn(left, [&] {
    for (std::size_t k = 0; k < panels; ++k) {
      free.acquire();
      panel& slot = slots[k % ahead];
      nopal::mpi::call([&] { p.begin(k, slot); });
      nopal::spawn(left, [&, k] {
        nopal::mpi::wait_all(slots[k % ahead].requests);
        here[k]->done();
      });
    }
  });
  for (std::size_t k = 0; k < panels; ++k) {
    nopal::wait_for(*here[k]);
    multiply_all(p, k, slots[k % ahead], work);
    free.release();
  }
  nopal::wait_for(left);
}

#else

void summa(product& p, bool overlap, computed& work) {
  std::size_t const panels = p.panels();
  panel slots[2];
  auto const wait = [](panel& s) { MPI_Waitall(static_cast<int>(s.requests.size()), s.requests.data(), MPI_STATUSES_IGNORE); };
  if (overlap) p.begin(0, slots[0]);
  for (std::size_t k = 0; k < panels; ++k) {
    if (!overlap) p.begin(k, slots[k % 2]);
    wait(slots[k % 2]);
    if (overlap && k + 1 < panels) p.begin(k + 1, slots[(k + 1) % 2]);
    multiply_all(p, k, slots[k % 2], work);
  }
}

#endif

}  // namespace

int main(int argc, char** argv) {
  distributed::options const o{{{"n", 768}, {"panel", 32}, {"ahead", 4}, {"workers", 1}, {"overlap", 0}}, argc, argv};
  auto const workers = static_cast<unsigned>(o["workers"]);
  if (o["n"] < 1 || o["panel"] < 1 || o["ahead"] < 1 || workers < 1)
    throw std::invalid_argument{"--n, --panel, --ahead and --workers are at least 1"};
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
  product p{static_cast<std::size_t>(o["n"]), static_cast<std::size_t>(o["panel"]), rank, ranks};
  computed work{workers};
  std::string how = o["overlap"] != 0 ? "overlapped" : "one-after-the-other";
  MPI_Barrier(MPI_COMM_WORLD);
  double const began = distributed::now();
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  how = "ahead-" + std::to_string(o["ahead"]);
  pool.run([&] { summa(p, static_cast<std::size_t>(o["ahead"]), work); });
#else
  summa(p, o["overlap"] != 0, work);
#endif
  double const seconds = distributed::now() - began;
  int const result = distributed::report("summa", how.c_str(), std::to_string(p.n) + "/" + std::to_string(p.width), workers, seconds,
                                         work.each(), p.is_correct());
#if !defined(NOPAL_DISTRIBUTED_NOPAL)
  MPI_Finalize();
#endif
  return result;
}
