// Counts the tasks in a deque, and gets memory for them.

#include "nopal/core/stack/orphan_memory.hpp"

#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The owner of the deque may have to leave it. Thieves may take entries at the same time: then there is more memory than is needed.
bool orphan_memory::get(deque const& d) noexcept {
  deque::index wanted = 0;
  for (deque::index i = d.oldest(); i < d.bottom(); ++i) {
    if (continuation{d.at(i)}.is_frame()) ++wanted;
  }
  for (; count_ < wanted; ++count_) {
    void* const p = ::operator new(sizeof(orphaned_continuation), std::nothrow);
    if (p == nullptr) return false;
    auto* const r = ::new (p) resumable;
    r->next = std::exchange(first_, r);
  }
  return true;
}

void orphan_memory::clear() noexcept {
  while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next));
  count_ = 0;
}

}  // namespace nopal::core
