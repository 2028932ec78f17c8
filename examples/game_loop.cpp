// A game's loop as jobs. In each frame the bodies move and the creatures think, at once; then collisions; then the frame is drawn from a
// copy, while the next frame is computed already. Counters order these steps, and a job that waits parks its fiber.
// For n objects and f frames: work Θ(n f), span O(f (n / 64 + log n)), since the collisions are sorted out by cells of 64.

#include <nopal/algorithm/parallel_for.hpp>
#include <nopal/fiber.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

constexpr std::size_t cells = 64, in_cell = 64, objects = cells * in_cell;
constexpr int frames = 60;

struct world {
  std::vector<std::int64_t> place = std::vector<std::int64_t>(objects), speed = place, mood = place;

  world() {
    for (std::size_t i = 0; i < objects; ++i) speed[i] = static_cast<std::int64_t>(i * 7919 % 97) - 48;
  }
  void move(std::size_t i) { place[i] += speed[i]; }
  void think(std::size_t i) { mood[i] = mood[i] * 31 % 1009 + speed[i]; }
  /// Neighbours in one cell that are at the same place push each other away.
  void collide(std::size_t cell) {
    for (std::size_t i = cell * in_cell + 1; i < (cell + 1) * in_cell; ++i) {
      if ((place[i] ^ place[i - 1]) % 8 == 0) std::swap(speed[i], speed[i - 1]);
    }
  }
  std::uint32_t picture() const {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < objects; ++i) sum = sum * 33 + static_cast<std::uint32_t>(place[i] + mood[i]);
    return sum;
  }
};

/// A copy of a frame, for drawing.
std::vector<std::uint32_t> play() {
  std::vector<std::uint32_t> drawn(frames);
  world now, shown;
  nopal::counter drawing;
  for (auto& picture : drawn) {
    nopal::counter moved, thought;
    nopal::spawn(moved, [&] { nopal::parallel_for(std::size_t{0}, objects, [&](std::size_t i) { now.move(i); }); });
    nopal::spawn(thought, [&] { nopal::parallel_for(std::size_t{0}, objects, [&](std::size_t i) { now.think(i); }); });
    nopal::wait_for(moved);
    nopal::wait_for(thought);
    nopal::parallel_for(std::size_t{0}, cells, [&](std::size_t cell) { now.collide(cell); });

    nopal::wait_for(drawing);  // the frame before has been drawn
    shown = now;
    nopal::spawn(drawing, [&] { picture = shown.picture(); });
  }
  nopal::wait_for(drawing);
  return drawn;
}

int main() {
  auto const drawn = nopal::default_pool().run(play);

  world serial;
  for (std::uint32_t const picture : drawn) {
    for (std::size_t i = 0; i < objects; ++i) serial.move(i), serial.think(i);
    for (std::size_t cell = 0; cell < cells; ++cell) serial.collide(cell);
    if (picture != serial.picture()) return 1;
  }
  std::printf("%d frames of %zu objects, the last drawn as %08x\n", frames, objects, drawn.back());
  return 0;
}
