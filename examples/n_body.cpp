// Bodies that attract each other. Each body adds up the forces of all others, always in the same order: so the result has the bits of the
// serial program, on any number of workers.
// For n bodies and s steps: work Θ(n² s), span O((n + log n) s).

#include <nopal/algorithm.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

struct vec {
  double x = 0, y = 0, z = 0;
  bool operator==(vec const&) const = default;
  friend vec operator+(vec a, vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend vec operator-(vec a, vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vec operator*(double s, vec a) { return {s * a.x, s * a.y, s * a.z}; }
  friend double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
};

struct body {
  vec position, velocity;
  double mass = 0;
  bool operator==(body const&) const = default;
};
using bodies = std::vector<body>;

constexpr double softening = 0.01, step = 0.001;

vec acceleration(bodies const& all, vec at) {
  vec sum;
  for (body const& other : all) {
    vec const way = other.position - at;
    double const square = dot(way, way) + softening;
    sum = sum + other.mass / (square * std::sqrt(square)) * way;
  }
  return sum;
}

// Compiled once, so that all results are rounded alike.
[[gnu::noinline]] void pull(body& b, bodies const& all) { b.velocity = b.velocity + step * acceleration(all, b.position); }
[[gnu::noinline]] void move(body& b) { b.position = b.position + step * b.velocity; }

/// Velocities first, all of them from the same positions; then positions.
void advance(bodies& all) {
  nopal::for_each(all, [&](body& b) { pull(b, all); });
  nopal::for_each(all, move);
}

void advance_serially(bodies& all) {
  for (body& b : all) pull(b, all);
  for (body& b : all) move(b);
}

double energy(bodies const& all) {
  return nopal::transform_reduce(all, 0.0, std::plus<>{}, [&](body const& b) {
    double potential = 0;
    for (body const& other : all) {
      vec const way = other.position - b.position;
      if (&other != &b) potential -= other.mass / std::sqrt(dot(way, way) + softening);
    }
    return b.mass * (dot(b.velocity, b.velocity) + potential) / 2;
  });
}

int main() {
  bodies all(600);
  std::minstd_rand draw{11};
  auto const coordinate = [&] { return static_cast<double>(draw() % 2001) / 1000 - 1; };
  for (body& b : all) b = {{coordinate(), coordinate(), coordinate()}, {}, 1.0 / static_cast<double>(all.size())};
  bodies serial = all;

  double const before = energy(all);
  for (int k = 0; k < 40; ++k) advance(all);
  double const drift = std::abs(energy(all) - before) / std::abs(before);
  for (int k = 0; k < 40; ++k) advance_serially(serial);
  std::printf("%zu bodies, energy %.6f, which 40 steps have changed by %.1e of it\n", all.size(), before, drift);
  return all == serial && drift < 1e-3 ? 0 : 1;
}
