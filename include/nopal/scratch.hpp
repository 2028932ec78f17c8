#pragma once

// stack_array: scratch memory on the task's own segmented stack (Section III-C of the libfork paper). Called inside tasks only, outside
// scopes. Next: core/task/arena.hpp, which has the memory.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "nopal/task.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {
template <class T>
class scratch_awaiter;
/// Frees the block, which is the newest in the running task's arena. Ends the program with a message if it is not the newest.
NOPAL_API void release_scratch(void* block, std::size_t bytes) noexcept;
/// The error for stack_array<T>(n): with n = 0 std::invalid_argument; `in_scope`, that is between fork and join, std::logic_error.
NOPAL_API std::exception_ptr scratch_misuse(std::size_t n, bool in_scope) noexcept;
}  // namespace core

/// Scratch memory of a task: n default-initialised objects. Its destructor destroys them in reverse order and frees the memory. Usable as a
/// std::span<T>. It stays where it was made: neither copied nor moved. Arrays of one task are destroyed in reverse order of creation, and
/// none between fork and join: otherwise the program ends with a message.
template <class T>
class scratch_array {
 public:
  scratch_array(scratch_array const&) = delete;
  scratch_array& operator=(scratch_array const&) = delete;
  ~scratch_array() {
    std::destroy(std::make_reverse_iterator(data_ + size_), std::make_reverse_iterator(data_));
    core::release_scratch(block(), bytes_for(size_));
  }

  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  operator std::span<T>() const& noexcept { return {data_, size_}; }  // NOLINT(google-explicit-constructor)
  operator std::span<T>() const&& = delete;  // the array would be gone: give it a name, auto tmp = co_await stack_array<T>(n)

 private:
  template <class U>
  friend class core::scratch_awaiter;
  // Bytes of the block beyond its objects, if T needs more than the arena's alignment.
  static constexpr std::size_t slack = alignof(T) > core::arena::alignment ? alignof(T) : 0;
  static constexpr std::size_t bytes_for(std::size_t n) noexcept { return core::arena::rounded(n * sizeof(T) + slack); }

  scratch_array(void* block, std::size_t n) : size_{n} {
    void* at = block;
    std::size_t room = bytes_for(n);
    data_ = static_cast<T*>(std::align(alignof(T), n * sizeof(T), at, room));
    if constexpr (slack != 0) block_ = block;
    try {
      std::uninitialized_default_construct_n(data_, n);
    } catch (...) {
      core::release_scratch(block, bytes_for(n));
      throw;
    }
  }

  void* block() const noexcept {
    if constexpr (slack != 0)
      return block_;
    else
      return data_;
  }

  // As few words as possible, since the array is in the coroutine's frame.
  struct nothing {};
  std::size_t size_;
  T* data_;
  [[no_unique_address]] std::conditional_t<slack != 0, void*, nothing> block_;
};

namespace core {

template <class T>
class scratch_awaiter : public awaitable_tag {
 public:
  explicit scratch_awaiter(std::size_t n) noexcept : n_{n} {}
  scratch_awaiter& in(frame& f) noexcept {
    frame_ = &f;
    return *this;
  }
  bool await_ready() const noexcept { return n_ != 0 && (frame_->state & frame::open) == 0; }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise>) const noexcept {
    return fail_task(*current(), frame_, scratch_misuse(n_, n_ != 0));
  }
  scratch_array<T> await_resume() const {
    if (current()->must_throw()) [[unlikely]]
      rethrow_into_task(*current());
    using array = scratch_array<T>;
    if (n_ > (arena::max_request - array::slack) / sizeof(T)) throw std::bad_array_new_length{};
    return {allocate_in_body(*current(), array::bytes_for(n_), *frame_), n_};
  }

 private:
  std::size_t n_;
  frame* frame_ = nullptr;
};

}  // namespace core

/// `auto tmp = co_await stack_array<T>(n)`: scratch memory for n > 0 objects, by a bump of a pointer; O(n) only for constructors that do
/// something. Throws, in the task: std::logic_error between fork and join, once the children have ended; std::invalid_argument for n = 0;
/// std::bad_array_new_length for an absurd n; std::bad_alloc; and what a constructor throws.
template <class T>
  requires std::default_initializable<T>
[[nodiscard("nopal: write auto tmp = co_await nopal::stack_array<T>(n)")]] core::scratch_awaiter<T> stack_array(std::size_t n) noexcept {
  return core::scratch_awaiter<T>{n};
}

}  // namespace nopal
