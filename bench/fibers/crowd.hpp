#pragma once

// empty and park: a million fibers with nothing to do, on one worker, `--batch` at a time or all at once. Empty ones run and finish; the
// others each wait for a gate that opens when the whole batch has arrived.

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "../harness.hpp"

namespace bench {

enum class crowd_kind { empty, park };

// `Fewer` times as many if one takes that much more memory.
template <crowd_kind Kind, std::size_t Fewer = 1>
struct crowd {
  static constexpr const char* name = Kind == crowd_kind::empty ? "fibers_empty" : "fibers_park";

  explicit crowd(const options& opts)
      : n{std::max<std::size_t>(1, pick(opts, {.smoke = 10'000, .standard = 1'000'000, .paper = 1'000'000}) / Fewer)},
        batch{opts.batch == 0 ? n : std::min(opts.batch, n)} {
    if (opts.workers != 1) throw std::invalid_argument{std::string{name} + " measures one worker"};
  }

  // Calls f(count) for each batch.
  template <class F>
  void each_batch(F f) const {
    for (std::size_t done = 0; done < n; done += batch) f(std::min(batch, n - done));
  }

  void reset() { ran = 0; }
  [[nodiscard]] std::size_t fibers() const { return n; }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(ran) + " fibers"; }
  [[nodiscard]] bool correct() const { return ran == n; }

  std::size_t n;
  std::size_t batch;
  std::size_t ran = 0;  // each fiber adds itself
};

}  // namespace bench
