#pragma once

// Memory without objects, for the algorithms that need room beside the range.

#include <cstddef>
#include <limits>
#include <new>

#include "nopal/core/base/pages.hpp"
#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Room for n objects, freed when it goes out of scope. It makes none, and destroys none.
template <class T>
class raw_buffer {
 public:
  /// Where there is no memory it is empty: `data()` is null.
  raw_buffer(std::size_t n, std::nothrow_t) noexcept : data_{allocate(n)} {
    if (data_ != nullptr && n * sizeof(T) >= worth_huge_pages) prefer_huge_pages(data_, n * sizeof(T));
  }
  /// Throws std::bad_alloc.
  explicit raw_buffer(std::size_t n) : raw_buffer{n, std::nothrow} {
    if (data_ == nullptr) throw std::bad_alloc{};
  }
  ~raw_buffer() {
    if constexpr (over_aligned) {
      ::operator delete(data_, std::align_val_t{alignof(T)});
    } else {
      ::operator delete(data_);
    }
  }
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(data_); }

 private:
  static constexpr bool over_aligned = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  static void* allocate(std::size_t n) noexcept {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) return nullptr;
    if constexpr (over_aligned) {
      return ::operator new(n * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow);
    } else {
      return ::operator new(n * sizeof(T), std::nothrow);
    }
  }

  void* data_;
};

}  // namespace nopal::core::algorithms
