#pragma once

// Copies of small structures that were written just before, member by member: arguments on their way to a child, and callables that are
// stored for a thief to find. Called by the worker that made them. A processor forwards one store to a later load, but not several: a copy
// that loads wide waits until all of them are in the cache, 13 ns (docs/fork-cost.md). GCC first combines the members in registers. Clang
// copies by wide loads, so for Clang these functions read word by word, which costs no load if it still knows the words' values. Used
// by the stored arguments, below, and by stack/native_fork.hpp.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

#if defined(__clang__) && defined(__x86_64__)

/// True if a T is stored by copying it word by word.
template <class T>
inline constexpr bool copied_by_words = false;
template <class T>
  requires std::is_class_v<T>  // only these have an alignment for certain
inline constexpr bool copied_by_words<T> = std::is_trivially_copyable_v<T> && (alignof(T) == 4 || alignof(T) == 8) &&
                                           sizeof(T) > alignof(T) && sizeof(T) <= 128;

#if defined(__AVX__)
inline constexpr std::size_t widest_copy = 32;
#else
inline constexpr std::size_t widest_copy = 16;
#endif

/// Copies `Bytes` bytes: reads words, and stores them one by one, or together if `Wide`.
template <class Word, bool Wide, std::size_t Bytes>
NOPAL_INLINE void copy_words(std::byte* to, std::byte const* from) noexcept {
  constexpr std::size_t width = !Wide || Bytes < 16 ? sizeof(Word) : Bytes < widest_copy ? 16 : widest_copy;
  if constexpr (width == sizeof(Word)) {
    __builtin_memcpy(to, from, width);
  } else {
    Word __attribute__((vector_size(width))) together;
    for (std::size_t i = 0; i < width / sizeof(Word); ++i) {
      Word one;
      __builtin_memcpy(&one, from + i * sizeof one, sizeof one);
      together[i] = one;
    }
    asm("" : "+x"(together));  // otherwise the compiler splits it into words again
    __builtin_memcpy(to, &together, width);
  }
  if constexpr (Bytes > width) copy_words<Word, Wide, Bytes - width>(to + width, from + width);
}

/// A copy of `value`, made by copy_words.
template <bool Wide, class T>
NOPAL_INLINE T copy_of(T const& value) noexcept {
  using word = std::conditional_t<alignof(T) == 8, std::uint64_t, std::uint32_t>;
  struct alignas(T) bytes {
    std::byte all[sizeof(T)];
  } copy;
  copy_words<word, Wide, sizeof(T)>(copy.all, reinterpret_cast<std::byte const*>(std::addressof(value)));
  return std::bit_cast<T>(copy);
}

#else

template <class T>
inline constexpr bool copied_by_words = false;
template <bool Wide, class T>
T copy_of(T const& value) noexcept;

#endif

/// `value`, to be passed to a function by value. More than two words travel in memory: they are stored as wide as they are read next.
template <class T>
NOPAL_INLINE T outgoing(std::remove_reference_t<T>& value) {
  if constexpr (copied_by_words<T> && sizeof(T) > 2 * sizeof(void*)) {
    return copy_of<true, T>(value);
  } else {
    return static_cast<T&&>(value);
  }
}

/// `value`, a callable by value or by reference, to be stored where a thief may find it later. It is moved: some cannot be copied.
template <class T>
NOPAL_INLINE T stored_copy(std::remove_reference_t<T>& value) noexcept {
  if constexpr (copied_by_words<T>) {
    return copy_of<false, T>(value);
  } else {
    return static_cast<T&&>(value);
  }
}

// The stored arguments of a child or a job: a tuple without std::tuple's constructors, so that a pack of small trivial arguments is itself
// trivial and travels in registers (docs/fork-cost.md). Only the worker that starts the child or job touches it. Above: how
// its elements are handed over; child.hpp, which stores one.

template <std::size_t I, class T>
struct pack_element {
  T value;
};

template <class... T>
struct pack;
template <class Indices, class... T>
struct pack_base;
template <std::size_t... I, class... T>
struct pack_base<std::index_sequence<I...>, T...> : pack_element<I, T>... {
  /// Calls f with the elements as lvalues, and returns its result.
  template <class F>
  [[gnu::always_inline]] decltype(auto) apply(F&& f) {
    return static_cast<F&&>(f)(static_cast<pack_element<I, T>&>(*this).value...);
  }
  /// The elements, moved out for a child that starts now.
  [[gnu::always_inline]] pack<T...> hand_over() { return {{{outgoing<T>(static_cast<pack_element<I, T>&>(*this).value)}...}}; }
};

/// An aggregate of T...; references stay references. Make one by pack<T...>{{a}, {b}, ...}.
template <class... T>
struct pack : pack_base<std::index_sequence_for<T...>, T...> {};

/// A pack of T..., each made from the argument at its place.
template <class... T, class... A>
[[gnu::always_inline]] inline pack<T...> make_pack(A&&... a) {
  return {{{static_cast<T>(static_cast<A&&>(a))}...}};  // arguments.hpp has checked that these conversions exist
}

}  // namespace nopal::core
