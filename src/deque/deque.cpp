#include "nopal/core/deque/deque.hpp"
#include "nopal/core/deque/join_word.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace nopal::inline NOPAL_ABI::core {

// ---- The array behind a deque.

namespace {

// A mapping begins and ends with a page; the cells in it may be fewer bytes.
std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + page_size() - 1) / page_size() * page_size(); }

}  // namespace

void* map_guarded(std::size_t bytes) noexcept {
  std::size_t const used = whole_pages(bytes);
  void* const all = ::mmap(nullptr, used + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  if (::mprotect(all, used, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(all, used + page_size());
    return nullptr;
  }
  return static_cast<std::byte*>(all) + (used - bytes);  // so that it ends where the guard begins
}

void unmap_guarded(void* memory, std::size_t bytes) noexcept {
  std::size_t const used = whole_pages(bytes);
  ::munmap(static_cast<std::byte*>(memory) - (used - bytes), used + page_size());
}

bool is_guarded_end(void const* end, void const* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(end) < page_size();
}

// ---- The join word.

// std::exception_ptr is one pointer. The storage of a kept exception holds a live std::exception_ptr exactly while the join word says
// "recorded".
static_assert(sizeof(std::exception_ptr) == sizeof(kept_exception::first) && alignof(std::exception_ptr) <= alignof(void*));

static std::exception_ptr& live(kept_exception& k) noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&k.first)); }

void kept_exception::record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept {
  join.record([&](bool recorded) {
    if (!recorded) {
      ::new (static_cast<void*>(&first)) std::exception_ptr{std::move(e)};
      when = stolen;
    } else if (stolen < when) {
      std::swap(live(*this), e);
      when = stolen;
    }
  });
}

std::exception_ptr kept_exception::take(join_word& join) noexcept {
  std::exception_ptr e = std::move(live(*this));
  std::destroy_at(&live(*this));
  join.reset();
  return e;
}

std::exception_ptr kept_exception::look(join_word& join) noexcept {
  when = 0;
  join.keep_recorded();
  return live(*this);
}

}  // namespace nopal::core
