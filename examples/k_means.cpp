// Lloyd's k-means: each point joins the nearest of k centres, each centre moves to the mean of its points, until nothing moves. A pass over
// the points is one transform_reduce: it adds up the k sums and counts. Its order is fixed by the number of points, so the result has the
// same bits on any number of workers. The coordinates are whole numbers, so here even those of the serial program.
// For each pass: work Θ(n k), span O(k √n).

#include <nopal/algorithm/reduce.hpp>

#include <array>
#include <cstdio>
#include <random>
#include <vector>

constexpr std::size_t clusters = 4;
struct point {
  double x = 0, y = 0;
  bool operator==(point const&) const = default;
};
using points = std::array<point, clusters>;

/// A point, and its nearest centre.
struct assigned {
  point where;
  std::size_t centre;
};

/// What some points add to the next centres.
struct sums {
  points total{};
  std::array<double, clusters> count{};

  sums() = default;
  sums(assigned p) { *this += p; }
  sums& operator+=(assigned p) {
    total[p.centre].x += p.where.x;
    total[p.centre].y += p.where.y;
    count[p.centre] += 1;
    return *this;
  }
  sums& operator+=(sums const& other) {
    for (std::size_t i = 0; i < clusters; ++i) {
      total[i].x += other.total[i].x;
      total[i].y += other.total[i].y;
      count[i] += other.count[i];
    }
    return *this;
  }
  points centres(points const& before) const {
    points result = before;  // a centre without points stays where it is
    for (std::size_t i = 0; i < clusters; ++i) {
      if (count[i] > 0) result[i] = {total[i].x / count[i], total[i].y / count[i]};
    }
    return result;
  }
};

assigned to_nearest(point p, points const& centres) {
  auto const square = [&](std::size_t i) {
    double const dx = p.x - centres[i].x, dy = p.y - centres[i].y;
    return dx * dx + dy * dy;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < clusters; ++i) {
    if (square(i) < square(best)) best = i;
  }
  return {p, best};
}

int main() {
  std::vector<point> data(100'000);
  std::minstd_rand draw{5};
  for (auto& p : data) {
    p = {static_cast<double>(draw() % 1000 + draw() % 2 * 2000), static_cast<double>(draw() % 1000 + draw() % 2 * 3000)};
  }

  points centres{data[0], data[1], data[2], data[3]}, serial = centres;
  int passes = 0;
  for (points before{}; centres != before; ++passes) {
    before = centres;
    auto const add = [](sums a, auto const& b) { return a += b; };  // b: other sums, or one point
    centres = nopal::transform_reduce(data, sums{}, add, [&](point p) { return to_nearest(p, before); }).centres(before);
  }
  for (points before{}; serial != before;) {
    before = serial;
    sums all;
    for (auto const p : data) all += to_nearest(p, before);
    serial = all.centres(before);
  }
  std::printf("%d passes:", passes);
  for (auto const c : centres) std::printf(" (%.1f, %.1f)", c.x, c.y);
  std::printf("\n");
  return centres == serial ? 0 : 1;
}
