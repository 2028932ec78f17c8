#pragma once

// stable_partition, once it is known which elements stay: they are carried to a buffer, each to its place, and back; or, without room for
// that, change places by rotations.

#include <cstddef>
#include <iterator>
#include <memory>
#include <new>

#include "nopal/algorithm/internal/kept.hpp"
#include "nopal/algorithm/internal/merge_runs.hpp"
#include "nopal/algorithm/internal/on_pool.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/raw_buffer.hpp"
#include "nopal/algorithm/internal/reversal.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Fewer elements are carried where the caller is.
inline constexpr std::size_t parallel_division = 2048;

/// By a worker if there are parallel_division elements or more. O(n) work, O(n / 1024 + log n) span.
template <class I>
void divide_in_room(I first, const kept& stay, std::iter_value_t<I>* room) {
  const auto carry_block = [&](std::size_t block) noexcept {
    const std::size_t before = stay.before(block);
    auto* left = room + before;
    auto* right = room + stay.count() + (stay.cut().begin(block) - before);
    stay.each(block, [&](std::size_t i) { algorithms::relocate(std::addressof(*algorithms::ahead(first, i)), left++); });
    stay.each_other(block, [&](std::size_t i) { algorithms::relocate(std::addressof(*algorithms::ahead(first, i)), right++); });
  };
  if (stay.cut().n < parallel_division) {
    for (std::size_t block = 0; block < stay.cut().count; ++block) carry_block(block);
  } else {
    algorithms::each_part(0, stay.cut().count, carry_block);  // all of them, whoever asks to stop
  }
  algorithms::carry_in_parts(room, first, stay.cut().n);
}

/// The elements [from, to). Returns where those begin that do not stay. By a worker if these are parallel_division or more. O(n log n)
/// work, O(log² n) span.
template <class I>
std::size_t divide_in_place(I first, std::size_t from, std::size_t to, const kept& stay) {
  if (to - from == 1) return stay.stays(from) ? to : from;
  const std::size_t middle = from + (to - from) / 2;
  std::size_t left = from;
  std::size_t right = middle;
  const auto divide_left = [&] { left = algorithms::divide_in_place(first, from, middle, stay); };
  const auto divide_right = [&] { right = algorithms::divide_in_place(first, middle, to, stay); };
  if (to - from < parallel_division) {
    divide_left();
    divide_right();
    std::ranges::rotate(algorithms::ahead(first, left), algorithms::ahead(first, middle), algorithms::ahead(first, right));
  } else {
    nopal::parallel_invoke(divide_left, divide_right);
    algorithms::rotate_all(algorithms::ahead(first, left), middle - left, right - left);
  }
  return left + (right - middle);
}

}  // namespace nopal::core::algorithms
