#pragma once

// The array behind a deque, allocated and freed by the deque's owner, read by thieves. Its cells cost no memory before they are used.
// Below: the deque.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// `bytes` zeros in fresh pages, with a page behind them in which every access is a fault. Null without memory.
NOPAL_COLD void* map_guarded(std::size_t bytes) noexcept;
/// Gives back what map_guarded(bytes) gave.
NOPAL_COLD void unmap_guarded(void* memory, std::size_t bytes) noexcept;
/// True if `address` is in the guard page behind the memory from map_guarded that ends at `end`.
bool is_guarded_end(void const* end, void const* address) noexcept;

/// A power of two of words, all zero. Guarded: an access behind the last word is a fault that stack_overflow.hpp reports.
template <class Cell, bool Guarded>
class cells {
 public:
  using index = std::int64_t;

  /// `capacity` is a power of two. Throws std::bad_alloc.
  explicit cells(index capacity) : mask{capacity - 1}, first_{get(static_cast<std::size_t>(capacity))} {}
  cells(cells const&) = delete;
  cells& operator=(cells const&) = delete;
  ~cells() {
    if constexpr (Guarded) {
      unmap_guarded(first_, static_cast<std::size_t>(mask + 1) * sizeof(Cell));
    } else {
      std::free(first_);
    }
  }

  /// Gives the cells' pages back to the system. By the deque's owner, while the deque is empty. A thief may still read a cell, but its
  /// exchange fails whatever it reads.
  void discard() const noexcept { discard_inside(first_, static_cast<std::size_t>(mask + 1) * sizeof(Cell)); }

  /// Bytes of the cells that are in memory; the count stops above `enough`. There may be as many guarded cells as forks fit on a stack of 1
  /// TiB. They are used from the first on, so the count looks at the first 2 * `enough` bytes only.
  std::size_t resident(std::size_t enough) const noexcept {
    std::size_t const all = static_cast<std::size_t>(mask + 1) * sizeof(Cell);
    return resident_inside(first_, Guarded ? std::min(all, 2 * enough) : all, enough);
  }

  Cell* first() const noexcept { return first_; }
  Cell* end() const noexcept { return first_ + mask + 1; }
  Cell& at(index i) const noexcept { return first_[i]; }

  index const mask;

 private:
  // An atomic word of zeros is a valid cell.
  static Cell* get(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<Cell> && sizeof(Cell) == sizeof(std::uintptr_t));
    void* const p = Guarded ? map_guarded(n * sizeof(Cell)) : std::calloc(n, sizeof(Cell));
    if (p == nullptr) throw std::bad_alloc{};
    return static_cast<Cell*>(p);
  }

  Cell* const first_;
};

// The deque: the continuations that a worker offers. Its owner, the thread that runs the worker, pushes and pops at the bottom; thieves
// take the oldest at the top. The newest entries are private, so that push and pop need neither a fence nor a shared line:
//
//      top            pub = split            bottom
//       |  public: by    |  private: the owner  |
//       |  exchange on   |  stores bottom, then |
//       |  top           |  loads split         |
//
// A thief that finds nothing public requests work (limit_); the owner answers at its next fork. A thief that got no answer raises `split`
// itself and makes the owner pass a fence, so that owners in long leaves never hide work. Proof, and the partner of each order: README.md,
// "The deque". Next: ../scheduler/worker.hpp, which has one; ../scheduler/search.hpp, where thieves come from.

/// How an index maps to a place in the buffer. Nested: a worker's own continuations; the place is the depth of the fork. Ring: the closures
/// that a worker has spawned; the place is the index modulo the capacity, since others may take old entries for ever while the worker adds
/// new ones.
enum class places { nested, ring };

template <class Sync = std_sync, places Places = places::nested>
class basic_deque {
  static constexpr bool is_ring = Places == places::ring;
  // On nopal's own stacks the nesting is bounded: ../task/README.md, "Depth". On a foreign stack, whose size is unknown, a push beyond the
  // last place must be noticed, and push has no instruction to spare. Pushes fill the places in order, so one guard page is enough.
  static constexpr bool is_guarded = !is_ring && std::is_base_of_v<std_sync, Sync>;

 public:
  using entry = std::uintptr_t;  ///< never 0
  using index = std::int64_t;

  /// The limit of an owner that a thief has asked to publish: above every address, so that the owner's next fork polls.
  static constexpr std::uintptr_t requested = ~std::uintptr_t{0};
  explicit basic_deque(index capacity = 1 << 12) {
    buffers_.push_back(std::make_unique<buffer>(capacity));
    newest_ = buffers_.back().get();
    cells_ = newest_->first();
    buffer_.store(newest_, std::memory_order_relaxed);  // relaxed: no other thread knows this deque yet
  }

  // ---- The owner. No other thread may call these. bottom_ is written by the owner only, so the owner reads it relaxed.
  /// There must be room: ensure_room bounds the depth to which entries can be pushed.
  NOPAL_INLINE void push(entry e) noexcept {
    index const b = bottom_.load(std::memory_order_relaxed);
    assert(has_room());
    cells_[is_ring ? b & newest_->mask : b].store(e, std::memory_order_relaxed);
    // release: pairs with the acquire of bottom_ in force, which publishes on the owner's behalf; carries the cell and the frame.
    store_successor(bottom_, b);
  }

  /// Takes back the newest entry, which the caller knows. True: it is the caller's. False: pop_slow decides.
  NOPAL_INLINE bool pop() noexcept {
    index const b = bottom_.load(std::memory_order_relaxed) - 1;
    // release: as in push; a thief that reads this value must see every older cell (relaxed would not continue the release sequence).
    bottom_.store(b, std::memory_order_release);
    // The store of bottom_ and the load of split_ must not pass each other: pairs with heavy_fence in force.
    Sync::light_fence();
    return at_least(b, split_);
  }

  /// After pop() failed: thieves may be at the entry. True: it is the caller's. False: it was stolen and the deque is empty. May make older
  /// entries private again, so that the next pops are cheap, but none below `floor`.
  NOPAL_COLD bool pop_slow(index floor = 0) noexcept {
    lock_.lock();
    index const b = bottom_.load(std::memory_order_relaxed);
    index const s = split_.load(std::memory_order_relaxed);
    if (b >= s) {  // a thief had raised split only for a moment
      lock_.unlock();
      return true;
    }
    // Here b == s - 1 and pub_ == s. First try to take back half of what is public.
    index t = top_.load(std::memory_order_relaxed);
    index const half = t + (b - t) / 2;
    if (index const m = half > floor ? half : floor; t < m && m < b && reclaim(m)) {
      lock_.unlock();
      return true;
    }
    bool mine = reclaim(b);
    if (!mine) {
      // One entry, or none: the exchange decides between us and the thieves, as in Chase and Lev.
      t = b;
      // relaxed: one word decides, and the entry is the owner's own; acquire if it was stolen: pairs with take, its place is used again.
      mine = top_.compare_exchange_strong(t, b + 1, std::memory_order_relaxed, std::memory_order_acquire);
      if constexpr (!is_ring) shift_to(shift_.load(std::memory_order_relaxed) - 1);  // empty at index b + 1, and still at the place of b
      pub_.store(b + 1, std::memory_order_relaxed);  // relaxed: the deque is empty, so there is nothing to carry
      bottom_.store(b + 1, std::memory_order_relaxed);
    }
    lock_.unlock();
    return mine;
  }

  /// Rolls back a pop() that failed. release: as in push.
  void unpop() noexcept { bottom_.store(bottom_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  /// True: a thief has requested work, or the native stack has grown below the limit. See publish and set_limit.
  NOPAL_INLINE bool must_poll() const noexcept { return stack_below(limit_); }  // relaxed: a hint, requesting again is always right

  /// `low`: the lowest address to which forks may grow the owner's native stack. Clears a request. relaxed: limit_ is a hint.
  void set_limit(std::uintptr_t low) noexcept {
    low_ = low;
    limit_.store(hides_ ? low : requested, std::memory_order_relaxed);
  }
  /// As set_limit, and the owner's next fork polls.
  NOPAL_INLINE void set_limit_and_request(std::uintptr_t low) noexcept {
    low_ = low;
    limit_.store(requested, std::memory_order_relaxed);
  }
  /// As set_limit, for a caller that restores the limit after a change. A request that came in between stays.
  void set_limit_back(std::uintptr_t low) noexcept {
    low_ = low;
    if (!was_requested()) limit_.store(low, std::memory_order_relaxed);
  }
  /// For a system without heavy_fence: every fork polls and publishes, and no thief takes private entries by force.
  void hide_nothing() noexcept {
    hides_ = false;
    request();
  }
  std::uintptr_t limit() const noexcept { return low_; }
  bool was_requested() const noexcept { return limit_.load(std::memory_order_relaxed) == requested; }
  /// Makes the owner's next fork poll. Any thread.
  void request() noexcept {
    if (!was_requested()) limit_.store(requested, std::memory_order_relaxed);
  }

  /// Answers a request: offers the older half of the private entries. From then on thieves may take them.
  NOPAL_COLD void publish() noexcept {
    if (!hides_) return publish_all();
    limit_.store(low_, std::memory_order_relaxed);
    if (!lock_.try_lock()) return;  // a thief holds the lock, and will take by force
    index const s = split_.load(std::memory_order_relaxed);
    index const n = bottom_.load(std::memory_order_relaxed) - s;
    if (n > 0) expose(s + (n + 1) / 2);
    lock_.unlock();
  }

  /// Offers every entry. Afterwards pop() fails until something is pushed.
  NOPAL_COLD void publish_all() noexcept {
    lock_.lock();
    expose(bottom_.load(std::memory_order_relaxed));
    lock_.unlock();
  }

  /// Only while the deque is empty: puts the next entry at the buffer's first place. An entry's place is the depth of the fork that made
  /// it. So the depth between two rewinds bounds the buffer, and push needs no wrap-around. Why only then: README.md, "Rewind".
  void rewind() noexcept {
    if constexpr (is_ring) return;
    if (!rewound()) shift_to(-bottom_.load(std::memory_order_relaxed));
  }
  bool rewound() const noexcept { return bottom_.load(std::memory_order_relaxed) + shift_.load(std::memory_order_relaxed) == 0; }

  /// Makes room for `n` more pushes. Throws std::bad_alloc. Old buffers stay, since thieves may read them; together they are smaller than
  /// the new one.
  NOPAL_COLD void ensure_room(index n) {
    index const b = bottom_.load(std::memory_order_relaxed);
    index const t = top_.load(std::memory_order_relaxed);
    index const shift = shift_.load(std::memory_order_relaxed);
    index const used = is_ring ? b - t : b + shift;
    know_room();  // acquires top_, of which t is no later value: the thieves' reads come before their places are used again
    if (used + n <= newest_->mask + 1) return;
    index capacity = 2 * (newest_->mask + 1);
    while (used + n > capacity) capacity *= 2;
    buffers_.reserve(buffers_.size() + 1);
    auto bigger = std::make_unique<buffer>(capacity);
    for (index i = t; i < b; ++i) {
      entry const e = newest_->at((i + shift) & newest_->mask).load(std::memory_order_relaxed);
      bigger->at((i + shift) & bigger->mask).store(e, std::memory_order_relaxed);
    }
    newest_ = bigger.get();
    cells_ = newest_->first() + shift;
    // release: pairs with the acquire in take; a thief that gets the new buffer sees its cells. A thief that learns through pub_ of entries
    // pushed after this sees the new buffer too; a thief that still has the old buffer reads only entries copied from it.
    buffer_.store(newest_, std::memory_order_release);
    buffers_.push_back(std::move(bigger));
    know_room();
  }

  /// True if the buffer has room for `n` more pushes. relaxed: written by the owner only.
  bool has_room_for(index n) const noexcept
    requires(!is_ring)
  {
    return bottom_.load(std::memory_order_relaxed) + shift_.load(std::memory_order_relaxed) + n <= capacity();
  }

  /// Makes must_grow() true when there is no room for `n` more pushes. Throws std::bad_alloc.
  void reserve(index n) {
    reserve_ = n;
    ensure_room(n);
  }
  NOPAL_INLINE bool must_grow() const noexcept { return bottom_.load(std::memory_order_relaxed) > full_at_; }

  /// The newest entry, if there is one. For an owner that does not know what it will pop.
  entry newest() const noexcept {
    index const b = bottom_.load(std::memory_order_relaxed) - 1;
    return cells_[is_ring ? b & newest_->mask : b].load(std::memory_order_relaxed);
  }

  /// The context in which all entries were offered. Set only while the deque is empty. relaxed: as shift_.
  void set_offered_in(strand_context const& o) noexcept {
    offered_in_.store(o.word(), std::memory_order_relaxed);
    offered_for_.store(o.values, std::memory_order_relaxed);
  }
  strand_context all_offered_in() const noexcept {
    return {job_context::of(offered_in_.load(std::memory_order_relaxed)), offered_for_.load(std::memory_order_relaxed)};
  }

  /// The entry at an index from oldest() to below bottom(). A thief may already have taken it.
  entry at(index i) const noexcept {
    index const place = is_ring ? i : i + shift_.load(std::memory_order_relaxed);
    return newest_->at(place & newest_->mask).load(std::memory_order_relaxed);
  }

  /// The index of the oldest entry, a moment ago; and the number of places.
  index oldest() const noexcept { return top_.load(std::memory_order_relaxed); }
  index capacity() const noexcept { return newest_->mask + 1; }
  /// Calls f(buffer) for each buffer, old ones too. f may read the cells or give them back (cells::discard). By the owner.
  template <class F>
  void for_each_buffer(F f) const {
    for (auto const& b : buffers_) f(*b);
  }

  /// The index of the next entry to be pushed.
  index bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

  /// The owner's own test: by top_ and not by split_, which a thief may have raised for a moment. acquire: pairs with the exchange in take;
  /// each thief has read its place before the owner uses that place again.
  bool empty() const noexcept { return bottom_.load(std::memory_order_relaxed) <= top_.load(std::memory_order_acquire); }

  // ---- Thieves: any thread, the owner too.
  /// True if there is no entry, public or private. relaxed: a hint.
  bool looks_empty() const noexcept { return bottom_.load(std::memory_order_relaxed) <= top_.load(std::memory_order_relaxed); }
  /// Takes the oldest entry; 0: none, or another thread was faster. `accept(entry)` may refuse the entry, which then stays. The owner may
  /// push and pop at the same time. `waits`: wait for the owner's answer to a request, at most tuning::request_patience. `in`: gets what
  /// the entry was offered in.
  template <class Accept>
  entry steal(Accept&& accept, strand_context* in = nullptr, bool waits = true) noexcept {
    for (bool again : {true, false}) {
      index t = top_.load(std::memory_order_relaxed);        // relaxed: the fence follows
      Sync::fence();                                         // pairs with the fence in reclaim: top_ before pub_
      index const p = pub_.load(std::memory_order_acquire);  // acquire: pairs with every release of pub_: cells, frames, buffer
      if (t < p) return take(t, p, accept, in);
      if (!waits || !again || bottom_.load(std::memory_order_relaxed) <= p) return 0;  // relaxed: a hint
      switch (request_and_wait()) {
        case answer::nothing: return 0;
        case answer::published: break;
        case answer::silence:
          if (!lock_.try_lock()) return 0;
          if (top_.load(std::memory_order_relaxed) >= split_.load(std::memory_order_relaxed)) force();
          lock_.unlock();
      }
    }
    return 0;
  }

  entry steal(strand_context* in = nullptr, bool waits = true) noexcept { return steal(anything, in, waits); }

  /// True if a fault at `address` means a push beyond the last place. Called by the owner's stack-overflow handler.
  bool guards(void const* address) const noexcept { return is_guarded && is_guarded_end(newest_->end(), address); }

  /// How often thieves have taken by force, and how often such a thief retreated. relaxed: counts.
  std::uint64_t forces() const noexcept { return forces_.load(std::memory_order_relaxed); }
  std::uint64_t retreats() const noexcept { return retreats_.load(std::memory_order_relaxed); }

 private:
  template <class T>
  using atomic = typename Sync::template atomic<T>;
  using cell = atomic<entry>;
  using buffer = cells<cell, is_guarded>;
  static constexpr auto anything = [](entry) { return true; };
  enum class answer { nothing, published, silence };

  template <class Accept>
  entry take(index t, index p, Accept&& accept, strand_context* in) noexcept {
    // In a ring the cell may hold a later entry, whose index is higher by a multiple of the capacity. Then top_ has passed t.
    index const shift = shift_.load(std::memory_order_relaxed);  // relaxed: pub_ has brought it
    buffer const* r = buffer_.load(std::memory_order_acquire);   // acquire: pairs with ensure_room
    entry const e = r->at((t + shift) & r->mask).load(std::memory_order_relaxed);
    if (!accept(e)) return 0;
    // relaxed: pub_ has brought both words, and the exchange shows that neither was set since: the deque has held this entry
    if (in != nullptr) *in = all_offered_in();
    // One word decides between this thief, other thieves, and the owner's exchange for the last entry. Success means that top_ has been t
    // since this thief read it, so the cell was neither reclaimed nor used again. release: the read of the cell comes before its next use;
    // pairs with the owner's acquires of top_.
    if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_release, std::memory_order_relaxed)) return 0;
    if (t + 1 >= p) request();  // that was the last public one
    return e;
  }

  // Nothing is public, something is private: the owner may be about to fork, or in a long leaf. relaxed: hints, steal reads again.
  answer request_and_wait() noexcept {
    std::int64_t const start = Sync::now();
    for (;;) {
      request();
      for (int i = 0; i < Sync::request_polls; ++i) {
        for (int k = 0; k < Sync::request_pauses; ++k) Sync::relax();
        if (top_.load(std::memory_order_relaxed) < pub_.load(std::memory_order_relaxed)) return answer::published;
      }
      if (bottom_.load(std::memory_order_relaxed) <= split_.load(std::memory_order_relaxed)) return answer::nothing;
      if (Sync::now() - start > tuning::request_patience) return answer::silence;
    }
  }

  // Publishes about half of the private entries on behalf of an owner that has not answered, or leaves everything as it was. Lock held,
  // nothing public; the owner may push and pop. relaxed where nothing else is said: the lock, or the fence, orders it.
  void force() noexcept {
    if (!hides_ || (failures_ != 0 && Sync::now() < not_before_)) return;
    index const s = split_.load(std::memory_order_relaxed);
    index b = bottom_.load(std::memory_order_relaxed);  // relaxed: a guess
    if (b <= s) return;
    index m = s + (b - s + 1) / 2;
    split_.store(m, std::memory_order_relaxed);  // tentative: pub_ does not follow yet, so no thief takes these
    // Pairs with light_fence in pop. Each pop that read the old split_ has stored a bottom_ that the load below sees. A pop that goes below
    // m from now on reads the new split_ and waits for the lock.
    Sync::heavy_fence();
    b = bottom_.load(std::memory_order_acquire);  // pairs with the release in push and pop; that of pub_ then publishes what lies below
    if (b <= s) {                                 // the owner pops and pushes at this place all the time: back off
      failures_ = failures_ < tuning::most_force_backoffs ? failures_ + 1 : failures_;
      not_before_ = Sync::now() + (tuning::force_backoff << failures_);
    } else {
      failures_ = 0;
    }
    if (b < m) {
      retreats_.store(retreats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      m = b > s ? b : s;
      split_.store(m, std::memory_order_relaxed);
    }
    if (m > s) {
      forces_.store(forces_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      pub_.store(m, std::memory_order_release);  // release: pairs with the acquire in steal
    }
  }

  // By the owner, while the deque is empty.
  void shift_to(index shift) noexcept {
    // relaxed: a thief that learns through pub_ of an entry pushed later sees the new shift. A thief that knows only older entries may read
    // a wrong cell, but inside the buffer, and its exchange fails: top_ has passed every entry of an empty deque.
    shift_.store(shift, std::memory_order_relaxed);
    cells_ = newest_->first() + shift;
    know_room();
  }

  void know_room() noexcept {  // acquire: pairs with a thief's exchange; a cell of a ring is used again only after the thief has read it
    index const first = is_ring ? top_.load(std::memory_order_acquire) : -shift_.load(std::memory_order_relaxed);
    full_at_ = newest_->mask + 1 + first - reserve_;
  }

  bool has_room() const noexcept {  // for the assertion in push; relaxed: an older top_ only asks for more room
    index const b = bottom_.load(std::memory_order_relaxed);
    index const place = is_ring ? b - top_.load(std::memory_order_relaxed) : b + shift_.load(std::memory_order_relaxed);
    return place >= 0 && place <= newest_->mask;
  }

  // By the owner, lock held; thieves may be taking. Lowers pub_ to m. True: every entry from m on is now private.
  bool reclaim(index m) noexcept {
    pub_.store(m, std::memory_order_release);
    Sync::fence();  // pairs with the fence in steal: a thief that reads top_ >= m from now on reads pub_ == m too
    if (top_.load(std::memory_order_relaxed) >= m) return false;
    split_.store(m, std::memory_order_relaxed);
    return true;
  }

  // By the owner, lock held. Offers every entry below m.
  void expose(index m) noexcept {
    split_.store(m, std::memory_order_relaxed);  // relaxed: thieves go by pub_, and only under the lock by split_
    pub_.store(m, std::memory_order_release);    // release: pairs with the acquire in steal
  }

  // The owner's line: all that push and pop write.
  alignas(destructive_size) atomic<index> bottom_{0};
  cell* cells_;  // where the entry with index 0 would be
  buffer* newest_;
  index full_at_ = 0;  // while bottom_ is at most this, there is room for reserve_ more
  index reserve_ = 1;
  std::uintptr_t low_ = 0;
  bool hides_ = true;
  // Read by the owner at every fork, written seldom.
  alignas(destructive_size) atomic<index> split_{0};
  atomic<std::uintptr_t> limit_{requested};
  // The thieves' line.
  alignas(destructive_size) atomic<index> top_{0};
  atomic<index> pub_{0};
  atomic<buffer*> buffer_{nullptr};
  atomic<index> shift_{0};  // an entry's place minus its index
  atomic<std::uint64_t> offered_in_{0};
  atomic<fiber_values*> offered_for_{nullptr};
  basic_spin_lock<Sync> lock_;
  int failures_ = 0;             // under lock_
  std::int64_t not_before_ = 0;  // under lock_
  atomic<std::uint64_t> forces_{0};
  atomic<std::uint64_t> retreats_{0};
  std::vector<std::unique_ptr<buffer>> buffers_;  // the owner's
};

using deque = basic_deque<>;

}  // namespace nopal::core
