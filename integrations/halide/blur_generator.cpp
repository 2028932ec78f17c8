// Compiles the pipeline of the test: blur_generator PREFIX writes PREFIX.a and PREFIX.h with blur(input, output), which blurs each pixel with
// its neighbours, in two loops, both in parallel.

#include <Halide.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: blur_generator PREFIX\n");
    return 2;
  }
  Halide::ImageParam input{Halide::Float(32), 2, "input"};
  Halide::Var x{"x"}, y{"y"};
  Halide::Func clamped = Halide::BoundaryConditions::repeat_edge(input), across{"across"}, blur{"blur"};
  across(x, y) = (clamped(x - 1, y) + clamped(x, y) * 2 + clamped(x + 1, y)) / 4;
  blur(x, y) = Halide::sqrt((across(x, y - 1) + across(x, y) * 2 + across(x, y + 1)) / 4);
  across.compute_root().parallel(y).vectorize(x, 8);
  blur.parallel(y).vectorize(x, 8);
  blur.compile_to_static_library(argv[1], {input}, "blur", Halide::get_host_target());
  return 0;
}
