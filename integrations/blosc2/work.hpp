#pragma once

// The buffers that the test and the times of C-Blosc2 compress.

#include <blosc2.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

using bytes = std::vector<std::uint8_t>;

/// Numbers that compress well, the same in each run.
inline std::vector<std::int32_t> numbers(std::size_t n) {
  std::vector<std::int32_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::int32_t>(i * i / 1000 % 5000);
  return all;
}

/// Compresses by contexts of its own, with so many threads at once as C-Blosc2 counts them. Empty if that fails.
inline bytes compressed(std::vector<std::int32_t> const& all, int threads) {
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = sizeof(std::int32_t);
  how.nthreads = static_cast<std::int16_t>(threads);
  how.blocksize = 16384;
  auto const size = static_cast<std::int32_t>(all.size() * sizeof(std::int32_t));
  bytes out(static_cast<std::size_t>(size) + BLOSC2_MAX_OVERHEAD);
  blosc2_context* const context = blosc2_create_cctx(how);
  int const n = blosc2_compress_ctx(context, all.data(), size, out.data(), static_cast<std::int32_t>(out.size()));
  blosc2_free_ctx(context);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

/// The numbers again; fewer if that fails.
inline std::vector<std::int32_t> decompressed(bytes const& from, std::size_t n, int threads) {
  blosc2_dparams how = BLOSC2_DPARAMS_DEFAULTS;
  how.nthreads = static_cast<std::int16_t>(threads);
  std::vector<std::int32_t> all(n);
  blosc2_context* const context = blosc2_create_dctx(how);
  int const size = blosc2_decompress_ctx(context, from.data(), static_cast<std::int32_t>(from.size()), all.data(),
                                         static_cast<std::int32_t>(n * sizeof(std::int32_t)));
  blosc2_free_ctx(context);
  all.resize(size > 0 ? static_cast<std::size_t>(size) / sizeof(std::int32_t) : 0);
  return all;
}

}  // namespace test
