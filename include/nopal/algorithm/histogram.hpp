#pragma once

// histogram: counts the elements of each bin, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/slow_values.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// The tables of counts: at most so many, and no more bins in all of them than elements.
inline constexpr std::size_t most_tables = 64;
inline constexpr std::size_t least_table = 4096;

/// Its types identify the cost of bin_of that is remembered.
template <class...>
struct histogram_pack {};

template <class Bin>
[[noreturn]] NOPAL_COLD void no_such_bin(Bin bin, std::size_t bins) {
  std::string text = "nopal: histogram: an element has bin ";
  text += std::to_string(bin);
  text += ", and there are ";
  text += std::to_string(bins);
  text += ": bins are counted from 0. Ask for more, or put what lies beyond into the last one";
  throw std::out_of_range{text};
}

template <class BinOf, class I>
concept tells_bin = std::invocable<BinOf&, std::iter_reference_t<I>> &&
                    std::integral<std::remove_cvref_t<std::invoke_result_t<BinOf&, std::iter_reference_t<I>>>>;

struct histogram_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class BinOf = std::identity>
    requires tells_bin<BinOf, I>
  std::vector<std::size_t> operator()(I first, S last, std::size_t bins, BinOf bin_of = {}) const {
    const auto n = algorithms::length(first, last);
    const std::size_t tables = std::clamp<std::size_t>(n / std::max(bins, least_table), 1, most_tables);
    std::vector<std::vector<std::size_t>> counts(tables);
    using V = std::remove_cvref_t<std::invoke_result_t<BinOf&, std::iter_reference_t<I>>>;
    auto each = [&](std::uint64_t k, auto use) {
      const auto check = [&](auto bin) {
        if (!is_below(bin, bins)) algorithms::no_such_bin(bin, bins);
        use(bin);
      };
      core::use_result(check, bin_of, *algorithms::ahead(first, static_cast<std::size_t>(k)));
    };
    algorithms::loop(tables, [&](std::size_t from, std::size_t to) {
      for (; from != to; ++from) {
        counts[from].resize(bins);
        std::size_t* const here = counts[from].data();
        auto count = [here](std::uint64_t k, std::uint64_t end, auto& values) {
          for (; k != end; ++k) values(k, [here](V in) { ++here[static_cast<std::size_t>(in)]; });
        };
        const std::uint64_t end = from + 1 == tables ? n : n / tables * (from + 1);
        core::use_values<histogram_pack<I, BinOf>, V>(n / tables * from, end, std::uint64_t{64}, from == 0, each, count);
      }
    });
    if (tables > 1) {
      algorithms::loop(bins, [&](std::size_t from, std::size_t to) {
        for (std::size_t table = 1; table < tables; ++table) {
          for (std::size_t bin = from; bin < to; ++bin) counts[0][bin] += counts[table][bin];
        }
      });
    }
    return std::move(counts[0]);
  }
  template <std::ranges::random_access_range R, class BinOf = std::identity>
    requires tells_bin<BinOf, std::ranges::iterator_t<R>>
  std::vector<std::size_t> operator()(R&& range, std::size_t bins, BinOf bin_of = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), bins, std::move(bin_of));
  }

 private:
  template <class Bin>
  static bool is_below(Bin bin, std::size_t bins) {
    if constexpr (std::is_signed_v<Bin>) {
      if (bin < 0) return false;
    }
    return static_cast<std::size_t>(bin) < bins;
  }
};

}  // namespace core::algorithms

/// histogram(first, last, bins, bin_of = identity), histogram(range, bins, bin_of): returns how many elements are in each of the bins 0 to
/// bins - 1, where bin_of(element) is an element's bin. Several threads call bin_of at once, once for each element.
///
/// Throws std::out_of_range if bin_of returns no such bin, or what bin_of throws, as serial execution would have thrown first. Throws
/// std::bad_alloc. Off a pool also throws what default_pool() throws. O(n + bins) work, O(n / 64 + bins + log n) span, of which calls of
/// bin_of that take long are O(log n). Memory for at most 64 numbers a bin, and for no more than there are elements.
inline constexpr core::algorithms::histogram_function histogram{};

}  // namespace nopal
