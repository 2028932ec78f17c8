// Mapping native stacks, and giving their pages back.

#include "nopal/core/stack/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <utility>

#include "compiler/valgrind.hpp"
#include "nopal/core/base/fatal.hpp"

namespace nopal::core {

namespace {

std::uintptr_t word(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

// Colours differ by a multiple of 64 bytes that is coprime with the number of cache lines in a page: stacks mapped one after the other
// begin far apart.
constexpr std::size_t colours = 32;
constexpr std::size_t colour_step = 64 * 13;

// How many pages of [from, from + bytes) are in memory, counted 512 at a time. No value where the kernel does not say.
std::optional<std::uint64_t> resident_in(std::byte* from, std::size_t bytes, std::size_t page) noexcept {
  std::uint64_t pages = 0;
  std::array<unsigned char, 512> resident;
  for (std::size_t done = 0; done < bytes; done += resident.size() * page) {
    std::size_t const part = std::min(bytes - done, resident.size() * page);
    if (::mincore(from + done, part, resident.data()) != 0) return {};
    pages += static_cast<std::uint64_t>(std::count_if(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(part / page),
                                                      [](unsigned char c) { return (c & 1) != 0; }));
  }
  return pages;
}

}  // namespace

stack_pool::stack_pool(std::size_t stack_size, reclaim how, std::size_t keep, unsigned makers, resumable::run_function when_left)
    : page_{static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))},
      size_{std::bit_ceil(std::max(stack_size, 4 * page_))},
      how_{how},
      keep_{keep},
      when_left_{when_left},
      tallies_(makers) {}

stack_pool::~stack_pool() {
  while (free_ != nullptr) unmap(std::exchange(free_, free_->next_));
  if (live_ != 0) die("a pool was destroyed while one of its native stacks is in use; let everything that waits on it end first");
}

stack* stack_pool::get(unsigned maker) noexcept {
  {
    std::lock_guard const guard{mutex_};
    if (stack* const s = free_; s != nullptr) {
      free_ = s->next_;
      --free_count_;
      return s;
    }
  }
  return map(maker);
}

void stack_pool::put(stack* s) noexcept {
  s->forget_content();
  {
    std::lock_guard const guard{mutex_};
    if (free_count_ < keep_) {
      // Under the lock: no other thread may take the stack before its pages are gone, or it would lose what it has written.
      give_back(*s);
      s->next_ = free_;
      free_ = s;
      ++free_count_;
      return;
    }
  }
  unmap(s);
}

stack* stack_pool::map(unsigned maker) noexcept {
  // Twice the size holds an aligned block; what lies before and behind that goes back at once. All is mapped without access: so the guard
  // page never had any, and the mapping counts as no memory.
  void* const all = ::mmap(nullptr, 2 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const from = static_cast<std::byte*>(all);
  std::byte* const base = from + ((size_ - word(all) % size_) % size_);
  std::byte* const end = base + size_;
  // The kernel may refuse to split the mapping, if there are too many. Then what is left of it goes back, and no more: where a part has
  // gone back already, another thread may have mapped something.
  std::byte* first = from;
  std::byte* last = from + 2 * size_;
  if (base == from || ::munmap(from, static_cast<std::size_t>(base - from)) == 0) first = base;
  if (::munmap(end, static_cast<std::size_t>(last - end)) == 0) last = end;
  if (first != base || last != end || ::mprotect(base + page_, size_ - page_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(first, static_cast<std::size_t>(last - first));
    return nullptr;
  }
  ::madvise(base, size_, MADV_NOHUGEPAGE);  // a huge page would make a stack's first touch cost 2 MiB; old kernels may refuse
  // relaxed: any two colours will do.
  std::size_t const colour = made_.fetch_add(1, std::memory_order_relaxed) % colours * colour_step % page_ / 64 * 64;
  constexpr std::size_t own = (sizeof(stack) + 63) / 64 * 64;
  auto* const s = ::new (end - colour - own) stack{base + page_, size_, page_, when_left_};
  s->maker = maker;
  s->valgrind_id_ = valgrind_learns(s->low(), s->top());
  {
    std::lock_guard const guard{mutex_};
    s->older_ = all_;
    if (all_ != nullptr) all_->newer_ = s;
    all_ = s;
    peak_ = std::max(peak_, ++live_);
    tally& t = tallies_[maker];
    t.peak = std::max(t.peak, ++t.live);
  }
  return s;
}

void stack_pool::unmap(stack* s) noexcept {
  valgrind_forgets(s->valgrind_id_);
  forget(*s);
  {
    std::lock_guard const guard{mutex_};
    (s->newer_ != nullptr ? s->newer_->older_ : all_) = s->older_;
    if (s->older_ != nullptr) s->older_->newer_ = s->newer_;
    --live_;
    --tallies_[s->maker].live;
  }
  ::munmap(s->base(), s->mapped());
}

void stack_pool::give_back_below(stack& s, void const* sp) noexcept {
  if (!s.holds(word(sp))) return;
  // The page of sp stays, with the red zone below sp: leaf functions may use 128 bytes there.
  std::uintptr_t const used_from = word(sp) - 128;
  if (used_from > word(s.low())) give_back_between(s, s.low(), s.low() + (used_from - word(s.low())) / page_ * page_);
}

void stack_pool::give_back(stack& s) noexcept {
  valgrind_lets_use(s.high_water_page(), sizeof(std::uint64_t));
  if (how_ == reclaim::none || s.high_water_mark_stands()) return;
  give_back_between(s, s.low(), s.high_water_page());
  s.set_high_water_mark();
}

// Gives back the whole pages from `from`, which begins a page, up to `to`.
void stack_pool::give_back_between(stack const& s, std::byte* from, std::byte* to) noexcept {
  if (how_ == reclaim::none) return;
  auto const bytes = static_cast<std::size_t>(to - from) / page_ * page_;
  if (bytes == 0) return;
  // Where none is in memory, none need go back. Where the kernel does not say how many are, none is counted.
  std::optional<std::uint64_t> const pages = resident_in(from, bytes, page_);
  if (pages == std::uint64_t{0}) return;
  int failed = 0;
  switch (how_) {
    case reclaim::dontneed: failed = ::madvise(from, bytes, MADV_DONTNEED); break;
    case reclaim::free: failed = ::madvise(from, bytes, MADV_FREE); break;
    case reclaim::remap:
      failed = ::mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED;
      break;
    case reclaim::none: break;
  }
  if (failed != 0) return;  // the pages stay: nothing is lost but memory
  tally& t = tallies_[s.maker];
  // relaxed, also where they are read: these counters order nothing.
  t.unmaps.fetch_add(1, std::memory_order_relaxed);
  t.pages_returned.fetch_add(pages.value_or(0), std::memory_order_relaxed);
}

template <class F>
void stack_pool::count_resident(F f) const noexcept {
  std::lock_guard const guard{mutex_};  // no stack is unmapped meanwhile
  for (stack const* s = all_; s != nullptr; s = s->older_) f(*s, resident_in(s->low(), s->mapped() - page_, page_).value_or(0));
}

std::uint64_t stack_pool::resident_pages() const noexcept {
  std::uint64_t pages = 0;
  count_resident([&](stack const&, std::uint64_t n) { pages += n; });
  return pages;
}

std::vector<std::uint64_t> stack_pool::resident_pages_by_maker() const {
  std::vector<std::uint64_t> pages(tallies_.size());
  count_resident([&](stack const& s, std::uint64_t n) { pages[s.maker] += n; });
  return pages;
}

stack_counts stack_pool::counts(unsigned maker) const noexcept {
  std::lock_guard const guard{mutex_};
  tally const& t = tallies_[maker];
  // relaxed: these counters order nothing.
  return {t.live, t.peak, t.unmaps.load(std::memory_order_relaxed), t.pages_returned.load(std::memory_order_relaxed)};
}

stack_counts stack_pool::counts() const noexcept {
  std::lock_guard const guard{mutex_};  // so that no stack is counted before the peak has risen to it
  stack_counts all{live_, peak_, 0, 0};
  for (tally const& t : tallies_) {  // relaxed: these counters order nothing
    all.unmaps += t.unmaps.load(std::memory_order_relaxed);
    all.pages_returned += t.pages_returned.load(std::memory_order_relaxed);
  }
  return all;
}

void stack_cache::trim(std::size_t n) noexcept {
  while (count_ > n) pool_.put(kept_[--count_]);
}

stack_cache::~stack_cache() { trim(0); }

}  // namespace nopal::core
