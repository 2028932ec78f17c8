// Maps regions, guards their places, and gives their memory back.

#include "nopal/core/stack/stack_pool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "compiler/valgrind.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

// Older headers lack them.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit own_mutex counting;
constinit std::array<char, 8192> buffer{};  // under `counting`: the caller's stack may be nearly full
constinit std::int64_t again_at = 0;        // under `counting`: after a refusal, mappings are not counted again before this time

// Mappings that may be made before the next count.
constinit std::atomic<long> credit{tuning::mappings_uncounted};

// relaxed, wherever `credit` is used: a count, which orders nothing.
bool take(long n) noexcept {
  if (credit.fetch_sub(n, std::memory_order_relaxed) >= n) return true;
  credit.fetch_add(n, std::memory_order_relaxed);
  return false;
}

// Under `counting`.
mapping_counts count() noexcept {
  mapping_counts c{0, read_number("/proc/sys/vm/max_map_count")};
  int const file = c.most > 0 ? ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return {0, 0};
  for (ssize_t n; (n = ::read(file, buffer.data(), buffer.size())) > 0;) c.have += std::count(buffer.begin(), buffer.begin() + n, '\n');
  ::close(file);
  return c;
}

}  // namespace

void hold_mapping_count() noexcept { counting.lock(); }
void release_mapping_count() noexcept { counting.unlock(); }

long mappings_left(long most) noexcept { return std::min(tuning::mappings_left, most / 4); }

bool may_map(long n) noexcept {
  if (take(n)) [[likely]]
    return true;
  std::lock_guard const guard{counting};
  if (take(n)) return true;
  std::int64_t const now = std_sync::now();
  if (now < again_at) return false;
  mapping_counts const c = count();
  if (c.have == 0) {  // unknown: the kernel itself will refuse
    // relaxed: a count.
    credit.store(std::numeric_limits<long>::max() / 2, std::memory_order_relaxed);
    return true;
  }
  long const free = c.most - mappings_left(c.most) - c.have;
  if (free < n) {
    again_at = now + tuning::mappings_counted_again;
    return false;
  }
  // relaxed: a count.
  credit.store(std::max(free / 2, std::min(free, tuning::mappings_uncounted)) - n, std::memory_order_relaxed);
  return true;
}

void unmapped(long n) noexcept { credit.fetch_add(n, std::memory_order_relaxed); }  // relaxed: a count

mapping_counts count_mappings() noexcept {
  std::lock_guard const guard{counting};
  return count();
}

long read_number(char const* path, int skip) noexcept {
  std::array<char, 128> text;
  int const file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t const n = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (n <= 0) return -1;
  text[static_cast<std::size_t>(n)] = '\0';
  char const* at = text.data();
  for (char* end; skip >= 0; --skip, at = end) {
    long const number = std::strtol(at, &end, 10);
    if (end == at) return -1;
    if (skip == 0) return number;
  }
  return -1;
}

namespace {

void* map_bytes(std::size_t bytes, int access) noexcept {
  return ::mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

bool mark_guard(std::byte* at, std::size_t page) noexcept { return ::madvise(at, page, MADV_GUARD_INSTALL) == 0; }

bool is_resident(std::byte* at, std::size_t page) noexcept {
  unsigned char resident = 0;
  return ::mincore(at, page, &resident) == 0 && (resident & 1) != 0;
}

}  // namespace

stack_region* stack_region::map(std::size_t size, std::size_t page, std::size_t places, int& error) noexcept {
  // For the region's accessible places, and the rest. Without guard markers each place takes two more, when it is opened.
  constexpr long own = 2;
  error = ENOMEM;
  if (!may_map(own)) return nullptr;
  // A mapping of one place more than needed, less a page, holds aligned ones; the parts before and behind those are unmapped at once. All
  // is mapped without access: so it counts as no memory, and none of it comes into memory if the program has locked what it will map.
  std::size_t const bytes = places * size + size - page;
  void* const all = map_bytes(bytes, PROT_NONE);
  if (all == MAP_FAILED) {
    error = errno;
    unmapped(own);
    return nullptr;
  }
  auto* const from = static_cast<std::byte*>(all);
  std::byte* const first = from + (size - reinterpret_cast<std::uintptr_t>(from) % size) % size;
  std::byte* const end = first + places * size;
  not_for_leak_check const only_stacks_point_to_it;
  auto* const r = new (std::nothrow) stack_region{first, size, page, places};
  if (r == nullptr) {
    ::munmap(from, bytes);
    unmapped(own);
    return nullptr;
  }
  // If the kernel does not unmap a part, the region keeps it.
  r->from_ = from == first || ::munmap(from, static_cast<std::size_t>(first - from)) == 0 ? first : from;
  r->to_ = end == from + bytes || ::munmap(end, static_cast<std::size_t>(from + bytes - end)) == 0 ? end : from + bytes;
  r->mappings_ = own;
  ::madvise(first, places * size, MADV_NOHUGEPAGE);  // a huge page would make a stack's first touch cost 2 MiB; old kernels may refuse
  if (r->learn()) return r;
  error = errno;
  delete r;
  return nullptr;
}

// Learns from the first page of a fresh region what the kernel does. False: the system refuses.
bool stack_region::learn() noexcept {
  if (::mprotect(first_, page_, PROT_READ | PROT_WRITE) != 0) return false;
  // If the program has locked what it will map (mlockall with MCL_FUTURE), a page that becomes accessible comes into memory; with
  // MCL_ONFAULT it does not, but takes no guard either.
  bool locked = is_resident(first_, page_);
  bool guarded = mark_guard(first_, page_);
  if (!guarded) {
    ::munlock(first_, places_ * size_);
    guarded = mark_guard(first_, page_);
    locked = locked || guarded;
  }
  // An emulator may take the advice and do nothing: so the kernel is asked for the page's content.
  markers_ = guarded && ::madvise(first_, page_, MADV_POPULATE_READ) != 0 && errno == EFAULT;
  if (!markers_) {
    discard(first_, page_);
    if (::mprotect(first_, page_, PROT_NONE) != 0) return false;
  }
  if (locked) lock_as_touched();
  return true;
}

stack_region::~stack_region() {
  ::munmap(from_, static_cast<std::size_t>(to_ - from_));
  unmapped(mappings_);
}

// The program has locked its memory. The region stays locked, but page by page when it is touched: else each place would take memory as a
// whole. Locked memory takes no guards, so all places get theirs while it is unlocked. False: the system has no memory for the guards. Then
// it stays unlocked, and also if the system refuses to lock it again.
bool stack_region::lock_as_touched() const noexcept {
  std::size_t const bytes = places_ * size_;
  ::munlock(first_, bytes);
  if (markers_ && !guard_all()) return false;
  ::syscall(SYS_mlock2, first_, bytes, MLOCK_ONFAULT);
  return true;
}

bool stack_region::guard_all() const noexcept {
  for (std::size_t k = 0; k < places_; ++k) {
    if (!mark_guard(first_ + k * size_, page_)) return false;
  }
  return true;
}

// Makes a place accessible, and some of those behind it, as many as are open already: a call of the kernel takes as long for several. The
// guards come first: if the program has locked the region since, they bring nothing into memory.
bool stack_region::open(std::size_t place) noexcept {
  if (!markers_) return open_with_mappings(place);
  constexpr std::size_t most_at_once = 32;
  constexpr std::size_t most_bytes_at_once = std::size_t{32} << 20;  // a limit on the process's data counts what is open
  std::size_t const most = std::clamp(most_bytes_at_once / size_, std::size_t{1}, most_at_once);
  std::size_t const wanted = std::clamp(opened_.count(), std::size_t{1}, most);
  std::size_t n = 0;
  for (bool guarded = false; n < wanted && place + n < places_ && !opened_[place + n]; ++n) {
    if (guarded || mark_guard(first_ + (place + n) * size_, page_)) continue;
    if (errno != EINVAL || !lock_as_touched()) break;  // EINVAL: the region is locked
    guarded = true;                                    // all places
  }
  auto const opens = [&](std::size_t k) { return ::mprotect(first_ + place * size_, k * size_, PROT_READ | PROT_WRITE) == 0; };
  if (n == 0) return false;
  bool open = opens(n);
  if (!open && n > 1) open = opens(n = 1);  // within a limit of the process there may be room for one
  if (!open) return false;
  while (n-- != 0) opened_[place + n] = true;
  return true;
}

bool stack_region::open_with_mappings(std::size_t place) noexcept {
  constexpr long own = 2;
  errno = ENOMEM;
  if (!may_map(own)) return false;
  if (::mprotect(first_ + place * size_ + page_, size_ - page_, PROT_READ | PROT_WRITE) != 0) {
    unmapped(own);
    return false;
  }
  mappings_ += own;
  opened_[place] = true;
  return true;
}

std::byte* stack_region::take(int& error) noexcept {
  std::size_t& place = lowest_;
  while (taken_[place]) ++place;
  if (!opened_[place] && !open(place)) {
    error = errno;
    return nullptr;
  }
  taken_[place] = true;
  ++used_;
  return first_ + place * size_;
}

void stack_region::put(std::byte* base) noexcept {
  std::size_t const place = static_cast<std::size_t>(base - first_) / size_;
  taken_[place] = false;
  lowest_ = std::min(lowest_, place);
  --used_;
}

bool stack_region::discard(std::byte* from, std::size_t bytes) const noexcept {
  if (discard_pages(from, bytes)) return true;
  if (errno != EINVAL) return false;
  // Locked, on an older kernel, which takes nothing back before it is unlocked.
  if (::munlock(first_, places_ * size_) != 0) return false;
  bool const gone = ::madvise(from, bytes, MADV_DONTNEED) == 0;
  ::syscall(SYS_mlock2, first_, places_ * size_, MLOCK_ONFAULT);
  return gone;
}

bool stack_region::remap(std::byte* from, std::size_t bytes) const noexcept {
  // If the program has locked its memory, a new mapping would come into memory as a whole; and the advice is refused.
  if (::madvise(from, page_, MADV_DONTNEED) != 0) return discard(from, bytes);
  void* const at = ::mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) return false;
  ::madvise(from, bytes, MADV_NOHUGEPAGE);  // like its neighbours: so it becomes one mapping with them again
  return true;
}

// Makes native stacks, and gives their pages back.

namespace {

// Forks and joins leave errno as it is, also if they need a stack. For functions that stay on one thread.
struct keeps_errno {
  int const before = errno;
  ~keeps_errno() { errno = before; }
};

std::uintptr_t word(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

// Colours differ by a multiple of 64 bytes that is coprime with the number of cache lines in a page: stacks mapped one after the other
// begin far apart.
constexpr std::size_t colours = 32;
constexpr std::size_t colour_step = 64 * 13;

// What the kernel says of a part of a stack.
struct residents {
  std::uint64_t pages;    // that are in memory
  bool all;               // it was asked about each page
  std::uint64_t topmost;  // those of the topmost pages of which the caller asked
};

constexpr std::size_t most_asked_about = 512;

// Counts the pages of [from, from + bytes) that are in memory, from the top, 512 at a time, until 512 are not: a stack is used from its top
// without such gaps, but for arrays of which nothing is touched. So a stack of a TiB takes one question. `ahead`: so many pages are asked
// about first, and if none of them is there, no others. Also counts those of the `n` pages at the top. No value if the kernel does not say.
std::optional<residents> resident_in(std::byte* from, std::size_t bytes, std::size_t page, std::size_t n = 0,
                                     std::size_t ahead = most_asked_about) noexcept {
  residents there{0, false, 0};
  std::array<unsigned char, most_asked_about> resident;
  auto const count = [&](std::size_t first, std::size_t last) {
    return static_cast<std::uint64_t>(std::count_if(resident.begin() + static_cast<std::ptrdiff_t>(first),
                                                    resident.begin() + static_cast<std::ptrdiff_t>(last),
                                                    [](unsigned char c) { return (c & 1) != 0; }));
  };
  for (; bytes != 0; ahead = resident.size()) {
    std::size_t const part = std::min(bytes, ahead * page);
    std::size_t const pages = part / page, near = std::min(n, pages);
    bytes -= part;
    n -= near;
    if (::mincore(from + bytes, part, resident.data()) != 0) return {};
    std::uint64_t const more = count(0, pages);
    if (more == 0) break;
    there.pages += more;
    there.topmost += count(pages - near, pages);
  }
  there.all = bytes == 0;
  return there;
}

// A frame that goes deep touches pages near those above it. The kernel takes some microseconds to say of all pages of a stack whether they
// are there; so it is asked about few, but each so many times. The first look at a stack sees all if the stack waits.
constexpr std::size_t near_the_top = 16;
constexpr unsigned looks_near_the_top = 16;
// How often the mark of a free stack is trusted, a multiple of the above. A frame may have skipped it; but stacks go to the pool often.
constexpr unsigned times_trusted = 8 * looks_near_the_top;

bool stands_at(std::byte* page) noexcept {
  valgrind_lets_use(page, sizeof(std::uint64_t));
  return stack::mark_stands(page);
}
bool stands(stack const& s) noexcept { return stands_at(s.high_water_page()); }
void set_mark_at(std::byte* page) noexcept {
  valgrind_lets_use(page, sizeof(std::uint64_t));
  stack::set_mark(page);
}

}  // namespace

stack_pool::stack_pool(std::size_t stack_size, reclaim how, std::size_t keep, unsigned makers, resumable::run_function when_left,
                       std::size_t kept_at_join)
    : page_{static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))},
      size_{std::bit_ceil(std::max(stack_size, 4 * page_))},
      how_{how},
      keep_{keep},
      kept_at_join_{std::min(kept_at_join, size_ / page_) * page_},
      when_left_{when_left},
      tallies_(makers) {}

stack_pool::~stack_pool() {
  while (free_ != nullptr) end(std::exchange(free_, free_->next_));
  if (live() != 0) die("a pool was destroyed while one of its native stacks is in use; let everything that waits on it end first");
}

stack* stack_pool::get(unsigned maker) noexcept {
  stack* const s = try_get(maker);
  if (s != nullptr) [[likely]]
    return s;
  if (said_refusal_.exchange(true, std::memory_order_relaxed)) return nullptr;  // relaxed: one thread finds it false
  std::unique_lock guard{mutex_};
  std::uint64_t const live = this->live();
  int const error = error_;
  guard.unlock();
  print_refusal(live, size_, error);
  return nullptr;
}

stack* stack_pool::try_get(unsigned maker) noexcept {
  stack* s = nullptr;
  return get_free(&s, 1) != 0 ? s : make(maker);
}

std::size_t stack_pool::get_free(stack** to, std::size_t n) noexcept {
  std::lock_guard const guard{mutex_};
  n = std::min({n, spare(), spare() / tallies_.size() + 1});  // others may need some
  for (std::size_t k = n; k-- != 0; free_ = free_->next_) to[k] = free_;
  set_free(spare() - n);
  return n;
}

void stack_pool::put(stack* const* all, std::size_t n) noexcept {
  bool const full = spare() >= keep_;
  for (std::size_t k = 0; k < n; ++k) {
    all[k]->forget_content();
    if (!full) give_back(*all[k]);  // before any other thread can take it; what ends loses its pages by that
  }
  std::size_t too_many = n;
  if (!full) {
    std::lock_guard const guard{mutex_};
    too_many = n - std::min(n, keep_ - std::min(keep_, spare()));
    for (std::size_t k = too_many; k < n; ++k) all[k]->next_ = std::exchange(free_, all[k]);
    set_free(spare() + n - too_many);
  }
  while (too_many != 0) end(all[--too_many]);
  if (note_ != nullptr && spare() > tuning::stacks_kept_idle) note_(with_);
}

// Under the mutex. relaxed: it orders nothing.
void stack_pool::set_free(std::size_t n) noexcept {
  free_count_.store(n, std::memory_order_relaxed);
  least_free_ = std::min(least_free_, n);
}

// Workers may get and put at the same time. Stacks that no worker has needed are last in the list.
void stack_pool::trim(std::size_t n) noexcept {
  stack* unused = nullptr;
  {
    std::lock_guard const guard{mutex_};
    std::size_t const all = spare();
    std::size_t const surplus = least_free_ > n ? least_free_ - n : 0;
    least_free_ = all - surplus;
    if (surplus == 0) return;
    stack** end = &free_;
    for (std::size_t k = surplus; k < all; ++k) end = &(*end)->next_;
    unused = std::exchange(*end, nullptr);
    set_free(all - surplus);
  }
  while (unused != nullptr) end(std::exchange(unused, unused->next_));
}

bool stack_pool::holds_many_pages(stack& s, std::uintptr_t sp) const noexcept {
  if (stands(s)) return false;
  constexpr std::size_t looked_for = 512, few = 8;  // a frame that went deep has touched most of the pages just below the mark
  auto const all = static_cast<std::size_t>(s.high_water_page() - s.low());
  std::size_t const bytes = std::min(all, looked_for * page_);
  if (resident_in(s.high_water_page() - bytes, bytes, page_, 0, near_the_top).value_or(residents{}).pages > few) return true;
  if (!s.holds(sp) || sp > word(s.high_water_page()) + page_ / 2) s.set_high_water_mark();
  return false;
}

// ---- Regions, under the mutex.

void stack_pool::link(stack_region& r) noexcept {
  r.before = nullptr;
  r.after = roomy_;
  if (roomy_ != nullptr) roomy_->before = &r;
  roomy_ = &r;
}

void stack_pool::unlink(stack_region& r) noexcept {
  (r.before != nullptr ? r.before->after : roomy_) = r.after;
  if (r.after != nullptr) r.after->before = r.before;
}

// As many places as there are already, or fewer if the system refuses that.
stack_region* stack_pool::add_region() noexcept {
  std::size_t const most = std::clamp(stack_region::most_bytes / size_, std::size_t{1}, stack_region::most_places);
  std::size_t const first = std::clamp(stack_region::most_first_bytes / size_, std::size_t{1}, tuning::first_places);
  for (std::size_t places = std::min(std::max(places_, first), most); places != 0; places /= 2) {
    stack_region* const r = stack_region::map(size_, page_, places, error_);
    if (r == nullptr) continue;
    places_ += places;
    link(*r);
    return r;
  }
  return nullptr;
}

// Null: the system refuses.
std::byte* stack_pool::take_place(stack_region*& in) noexcept {
  in = roomy_ != nullptr ? roomy_ : add_region();
  if (in == nullptr) return nullptr;
  std::byte* const base = in->take(error_);
  if (base == nullptr ? in->unused() : in->full()) unlink(*in);
  if (base == nullptr && in->unused()) {
    places_ -= in->places();
    delete in;
  }
  return base;
}

stack* stack_pool::make(unsigned maker) noexcept {
  keeps_errno const here;
  stack_region* in = nullptr;
  std::size_t colour;
  std::byte* base;
  {
    std::lock_guard const guard{mutex_};
    base = take_place(in);
    if (base == nullptr) return nullptr;
    colour = made_++ % colours * colour_step % page_ / 64 * 64;
  }
  constexpr std::size_t own = (sizeof(stack) + 63) / 64 * 64;
  auto* const s = ::new (base + size_ - colour - own) stack{*in, base + page_, size_, page_, when_left_};
  s->maker = maker;
  s->valgrind_id_ = valgrind_learns(s->low(), s->top());
  if (how_ != reclaim::none) learn_use(*s, 2, 2);
  if (new_stacks_are_leak_roots.load(std::memory_order_relaxed)) add_leak_root(s->low(), size_ - page_);  // relaxed: see there
  {
    std::lock_guard const guard{mutex_};
    s->older_ = all_;
    if (all_ != nullptr) all_->newer_ = s;
    all_ = s;
    live_.store(live() + 1, std::memory_order_relaxed);  // relaxed: under the mutex; other readers want a hint
    peak_ = std::max(peak_, live());
    tally& t = tallies_[maker];
    t.peak = std::max(t.peak, ++t.live);
  }
  if (std::uint64_t const n = live(); n >= check_at_.load(std::memory_order_relaxed)) [[unlikely]]
    check_at_.store(n + check_(with_), std::memory_order_relaxed);
  return s;
}

void stack_pool::end(stack* s) noexcept {
  keeps_errno const here;
  valgrind_forgets(s->valgrind_id_);
  forget(*s);
  held_.fetch_sub(s->known_pages, std::memory_order_relaxed);  // relaxed: it orders nothing
  stack_region& in = s->region_;
  std::byte* const base = s->base();
  {
    std::lock_guard const guard{mutex_};
    (s->newer_ != nullptr ? s->newer_->older_ : all_) = s->older_;
    if (s->older_ != nullptr) s->older_->newer_ = s->newer_;
    live_.store(live() - 1, std::memory_order_relaxed);  // relaxed: as in make
    --tallies_[s->maker].live;
  }
  in.clear(base);  // before the place is put: another thread may take it at once
  {
    std::lock_guard const guard{mutex_};
    if (in.full()) link(in);
    in.put(base);
    if (!in.unused()) return;
    unlink(in);
    places_ -= in.places();
  }
  delete &in;
}

void stack_pool::give_back_below(stack& s, void const* sp) noexcept {
  if (!s.holds(word(sp))) return;
  // The page of sp stays, with the red zone below sp: leaf functions may use 128 bytes there.
  std::uintptr_t const used_from = word(sp) - 128;
  if (used_from <= word(s.low())) return;
  std::byte* const used = s.low() + (used_from - word(s.low())) / page_ * page_;
  std::byte* const end = s.high_water_page() + 2 * page_;
  // Where the mark stands it has touched these two pages, and no others; unless a frame has skipped the mark, so it is not always trusted.
  if (used >= s.high_water_page() && s.looks % looks_near_the_top != 0 && stands(s)) {
    ++s.looks;
    if (s.known_pages == 0) learn_use(s, 2, 2);
    return;
  }
  std::byte* const kept_from = std::clamp(end - kept_at_join_, s.low(), used);
  std::optional<looked_at> const seen = give_back_between(s, kept_from, used);
  if (!seen) return;
  std::uint64_t const stay = static_cast<std::uint64_t>(end - used) / page_ + seen->kept;
  if (seen->gone != 0 || s.known_pages != stay) learn_use(s, stay + seen->gone, stay);
}

// Where the `n` topmost pages of `s` begin, or all of them.
std::byte* stack_pool::topmost(stack const& s, std::size_t n) const noexcept {
  return std::max(s.high_water_page() + 2 * page_ - n * page_, s.low());
}

void stack_pool::give_back(stack& s, std::size_t kept) noexcept {
  if (how_ == reclaim::none) return;
  if (s.looks == 0) s.looks = 1;  // near the top: most are used only there, and many are looked at once
  if (s.known_pages <= kept && s.looks % times_trusted != 0 && stands(s)) {
    ++s.looks;
    return;
  }
  std::optional<looked_at> const seen = give_back_between(s, topmost(s, kept), s.high_water_page());
  if (!seen && kept > 2) return give_back(s);  // nobody knows what would stay
  if (!seen || seen->kept == 0) set_mark_at(s.high_water_page());
  if (!seen) return;
  learn_use(s, 2 + seen->kept + seen->gone, 2 + seen->kept);
  if (seen->gone != 0) tallies_[s.maker].purges.fetch_add(1, std::memory_order_relaxed);  // relaxed: it orders nothing
}

void stack_pool::give_back_some(stack& s) noexcept {
  // A mark is in the lowest page that stays. As in give_back_below, a frame may have skipped it.
  if (s.known_pages > 2 && s.looks % looks_near_the_top != 0 && stands_at(topmost(s, s.known_pages))) {
    ++s.looks;
    return;
  }
  give_back(s, tuning::pages_kept_by_newest);
  if (s.known_pages > 2) set_mark_at(topmost(s, s.known_pages));
}

// `s` held `before` pages, and holds `after` from now on. By its owner. relaxed: the numbers order nothing, and each is added up exactly.
void stack_pool::learn_use(stack& s, std::uint64_t before, std::uint64_t after) noexcept {
  auto const raise = [](std::atomic<std::uint64_t>& most, std::uint64_t to) noexcept {
    std::uint64_t was = most.load(std::memory_order_relaxed);
    while (was < to && !most.compare_exchange_weak(was, to, std::memory_order_relaxed)) {
    }
  };
  std::uint64_t const more = before - s.known_pages;  // modulo 2^64, as the sum is
  raise(most_held_, held_.fetch_add(more, std::memory_order_relaxed) + more);
  raise(deepest_, before);
  held_.fetch_sub(before - after, std::memory_order_relaxed);
  s.known_pages = after;
}

std::uint64_t stack_pool::most_pages_held(unsigned running) const noexcept {
  // relaxed: each number only grows, and they order nothing.
  std::uint64_t const deepest = deepest_.load(std::memory_order_relaxed);
  return most_held_.load(std::memory_order_relaxed) + running * (deepest < 2 ? 0 : deepest - 2);
}

// Gives back the pages of `s` below `kept_from`, which is where a page begins. The pages from there up to `unused` stay, and are looked at
// too. Nothing from `unused` down is in use. Returns what the kernel says of both, as far as it was asked; no value if pages stay that were
// to go, or if it does not say.
std::optional<stack_pool::looked_at> stack_pool::give_back_between(stack& s, std::byte* kept_from, std::byte* unused) noexcept {
  keeps_errno const here;
  if (how_ == reclaim::none) return {};
  auto const bytes = static_cast<std::size_t>(kept_from - s.low());
  auto const kept = static_cast<std::size_t>(unused - kept_from);
  if (bytes == 0 && kept == 0) return looked_at{0, 0};
  bool const near = s.looks++ % looks_near_the_top != 0;
  std::optional<residents> const there = resident_in(s.low(), bytes + kept, page_, kept / page_,
                                                     near ? std::min(kept / page_ + near_the_top, most_asked_about) : most_asked_about);
  looked_at const seen = there ? looked_at{there->pages - there->topmost, there->topmost} : looked_at{0, 0};
  // Nothing is there, or nothing near the top: then mapping all anew would cost more than what may be left deep down.
  if (bytes == 0 || (there && seen.gone == 0 && (there->all || near || stands(s) || how_ == reclaim::remap)))
    return there ? std::optional{seen} : std::nullopt;
  bool gone = false;
  switch (how_) {
    case reclaim::dontneed: gone = s.region_.discard(s.low(), bytes); break;
    case reclaim::free: gone = ::madvise(s.low(), bytes, MADV_FREE) == 0 || s.region_.discard(s.low(), bytes); break;
    case reclaim::remap: gone = s.region_.remap(s.low(), bytes); break;
    case reclaim::none: break;
  }
  if (!gone) return {};  // the pages stay: nothing is lost but memory
  tally& t = tallies_[s.maker];
  // relaxed, also where they are read: these counters order nothing.
  if (!there || seen.gone != 0) t.unmaps.fetch_add(1, std::memory_order_relaxed);
  t.pages_returned.fetch_add(seen.gone, std::memory_order_relaxed);
  return there ? std::optional{seen} : std::nullopt;
}

template <class F>
void stack_pool::count_resident(F f) const noexcept {
  std::lock_guard const guard{mutex_};  // no stack ends in between
  for (stack const* s = all_; s != nullptr; s = s->older_)
    f(*s, resident_in(s->low(), s->mapped() - page_, page_).value_or(residents{}).pages);
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
  return {t.live, t.peak, t.unmaps.load(std::memory_order_relaxed), t.purges.load(std::memory_order_relaxed),
          t.pages_returned.load(std::memory_order_relaxed)};
}

stack_counts stack_pool::counts() const noexcept {
  std::lock_guard const guard{mutex_};  // so that no stack is counted before the peak includes it
  stack_counts all{live(), peak_, 0, 0, 0};
  for (tally const& t : tallies_) {  // relaxed: these counters order nothing
    all.unmaps += t.unmaps.load(std::memory_order_relaxed);
    all.purges += t.purges.load(std::memory_order_relaxed);
    all.pages_returned += t.pages_returned.load(std::memory_order_relaxed);
  }
  return all;
}

// The interrupted thread may hold the mutex: so this does not wait for it.
stack const* stack_pool::guarded_at(void const* address) const noexcept {
  std::unique_lock const guard{mutex_, std::try_to_lock};
  if (!guard) return nullptr;
  stack const* s = all_;
  while (s != nullptr && !s->guards(address)) s = s->older_;
  return s;
}

void stack_cache::trim(std::size_t n) noexcept {
  if (count_ > n) put_oldest(count_ - n);
}

// The newest stay: their pages are in the processor's caches.
void stack_cache::put_oldest(std::size_t n) noexcept {
  pool_.put(kept_.data(), n);
  std::copy(kept_.data() + n, kept_.data() + count_, kept_.data());
  count_ -= n;
}

void stack_cache::put_left(stack& s) noexcept {
  auto* const end = kept_.data() + count_;
  if (warm_ != nullptr && warm_ != &s && std::find(kept_.data(), end, warm_) != end) pool_.give_back(*warm_);
  pool_.give_back_some(s);
  warm_ = s.known_pages > 2 ? &s : nullptr;
  put(&s);
}

stack* stack_cache::get_from_pool() noexcept {
  count_ = pool_.get_free(kept_.data(), most / 2);
  return empty() ? pool_.get(maker_) : kept_[--count_];
}

void stack_cache::give_back() noexcept {
  for (std::size_t k = 0; k < count_; ++k) pool_.give_back(*kept_[k]);
}

stack_cache::~stack_cache() { trim(0); }

namespace {

constinit std::mutex writing;
constinit std::array<char, 1024> text{};  // under `writing`: the caller's stack may be nearly full

[[gnu::format(printf, 1, 2)]] void say(char const* format, ...) noexcept {
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
}

// A limit of the process; 0 if there is none.
unsigned long limit_on(int what) noexcept {
  rlimit l{};
  return ::getrlimit(static_cast<decltype(RLIMIT_AS)>(what), &l) == 0 && l.rlim_cur != RLIM_INFINITY
             ? static_cast<unsigned long>(l.rlim_cur)
             : 0;
}

// Names the number of mappings, if that is the limit that was met.
bool say_mappings() noexcept {
  mapping_counts const m = count_mappings();
  if (m.have == 0 || m.have < m.most - mappings_left(m.most) - m.most / 64) return false;
  say("the process has %ld of the %ld mappings that vm.max_map_count allows, and %ld are left to the program; raise it (sysctl -w "
      "vm.max_map_count=...), or run on Linux 6.13 or newer, where guard pages need no mappings",
      m.have, m.most, mappings_left(m.most));
  return true;
}

// Names a limit of the process, if it was met. `word`: the word of /proc/self/statm that counts against it, in pages.
bool say_limit(int what, char const* called, int word, std::size_t size) noexcept {
  unsigned long const most = limit_on(what);
  long const pages = read_number("/proc/self/statm", word);
  if (most == 0 || pages < 0) return false;
  unsigned long const have = static_cast<unsigned long>(pages) * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
  if (have + 2 * size <= most) return false;
  say("the process has %lu of the %lu bytes that %s allows; raise that", have, most, called);
  return true;
}

// Names the address space, if most of 2^47 bytes are used.
bool say_address_space() noexcept {
  constexpr int nearly = 46;
  long const pages = read_number("/proc/self/statm");
  if (pages < 0 || pages <= (1L << nearly) / ::sysconf(_SC_PAGESIZE)) return false;
  say("the address space is used up; lower pool_options::stack_size");
  return true;
}

void say_reason(std::size_t size, int error) noexcept {
  constexpr int all = 0, data = 5;
  if (say_mappings() || say_limit(RLIMIT_AS, "RLIMIT_AS (ulimit -v)", all, size) ||
      say_limit(RLIMIT_DATA, "RLIMIT_DATA (ulimit -d)", data, size)) {
    return;
  }
  if (error == EAGAIN) {
    say("the program has locked its memory (mlockall), of which RLIMIT_MEMLOCK (ulimit -l) allows %lu bytes; raise that",
        limit_on(RLIMIT_MEMLOCK));
  } else if (read_number("/proc/sys/vm/overcommit_memory") == 2) {
    say("vm.overcommit_memory is 2, and the system has promised as much memory as it may; raise vm.overcommit_ratio, or set "
        "vm.overcommit_memory to 0");
  } else if (!say_address_space()) {
    say("the system says: %s; look at the limits of the process (ulimit -a) and of its cgroup (memory.max)", std::strerror(error));
  }
}

}  // namespace

void print_refusal(std::uint64_t stacks, std::size_t size, int error) noexcept {
  std::lock_guard const guard{writing};
  say_reason(size, error);
  std::fprintf(
      stderr,
      "nopal: no memory for another native stack: this pool has %llu, of %zu bytes each, and %s. Or let fewer fibers and tasks wait "
      "at once. Until then forks run serially, and what waits keeps its thread\n",
      static_cast<unsigned long long>(stacks), size, text.data());
  std::fflush(stderr);
}

void hold_refusal() noexcept { writing.lock(); }
void release_refusal() noexcept { writing.unlock(); }

}  // namespace nopal::core
