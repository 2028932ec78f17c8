#include "nopal/execution/parallel_scheduler.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexec/execution.hpp>
#include <utility>

#include "nopal/execution/bulk.hpp"
#include "nopal/execution/work.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::senders {
namespace {

namespace replacement = stdexec::parallel_scheduler_replacement;

// The front end knows no token, or an inplace_stop_token.
stdexec::inplace_stop_token token_of_proxy(replacement::receiver_proxy const& r) noexcept {
  return r.try_query<stdexec::inplace_stop_token>(stdexec::get_stop_token).value_or(stdexec::inplace_stop_token{});
}

struct proxied_work : work {
  bool is_on_heap = false;

 protected:
  explicit proxied_work(body b) noexcept : work{b} {}
  template <class Self>
  static void destroy(Self& self) noexcept {
    bool const was_on_heap = self.is_on_heap;
    std::destroy_at(&self);
    if (was_on_heap) ::operator delete(&self);
  }
};

struct scheduled : proxied_work {
  replacement::receiver_proxy& receiver;

  explicit scheduled(replacement::receiver_proxy& r) noexcept : proxied_work{run}, receiver{r} {}

 private:
  static void run(work& w) noexcept {
    auto& self = static_cast<scheduled&>(w);
    replacement::receiver_proxy& r = self.receiver;
    destroy(self);
    if (token_of_proxy(r).stop_requested()) return r.set_stopped();
    r.set_value();
  }
};

template <bool Chunked>
struct bulk_scheduled : proxied_work {
  replacement::bulk_item_receiver_proxy& receiver;
  pool_state& pool;
  std::size_t const count;

  bulk_scheduled(replacement::bulk_item_receiver_proxy& r, pool_state& p, std::size_t n) noexcept
      : proxied_work{run}, receiver{r}, pool{p}, count{n} {}

 private:
  static void run(work& w) noexcept {
    auto& self = static_cast<bulk_scheduled&>(w);
    replacement::bulk_item_receiver_proxy& r = self.receiver;
    pool_state& pool = self.pool;
    std::size_t const n = self.count;
    destroy(self);
    bulk_outcome const o = run_bulk<true>(
        pool, n, [&r] { return token_of_proxy(r); },
        [&r](std::size_t first, std::size_t last) {
          if constexpr (Chunked) {
            r.execute(first, last);
          } else {
            for (; first < last; ++first) r.execute(first, first + 1);
          }
        });
    if (o.thrown != nullptr) return r.set_error(o.thrown);
    if (o.stopped) return r.set_stopped();
    r.set_value();
  }
};

class backend final : public replacement::parallel_scheduler_backend {
 public:
  explicit backend(pool_state& pool) noexcept : pool_{pool} {}

  void schedule(replacement::receiver_proxy& r, std::span<std::byte> storage) noexcept override { give<scheduled>(r, storage, r); }
  void schedule_bulk_chunked(std::size_t n, replacement::bulk_item_receiver_proxy& r, std::span<std::byte> storage) noexcept override {
    give<bulk_scheduled<true>>(r, storage, r, pool_, n);
  }
  void schedule_bulk_unchunked(std::size_t n, replacement::bulk_item_receiver_proxy& r, std::span<std::byte> storage) noexcept override {
    give<bulk_scheduled<false>>(r, storage, r, pool_, n);
  }

 private:
  // In the storage of the interface, which ends with the call of set_value, set_error or set_stopped; or on the heap, if it is too small.
  template <class Work, class... A>
  void give(replacement::receiver_proxy& r, std::span<std::byte> storage, A&&... a) noexcept {
    void* at = storage.data();
    std::size_t left = storage.size();
    bool const fits = std::align(alignof(Work), sizeof(Work), at, left) != nullptr;
    if (!fits) at = ::operator new(sizeof(Work), std::nothrow);
    if (at == nullptr) return r.set_error(std::make_exception_ptr(std::bad_alloc{}));
    auto* const made = ::new (at) Work{static_cast<A&&>(a)...};
    made->is_on_heap = !fits;
    made->give(pool_);
  }

  pool_state& pool_;
};
static_assert(sizeof(scheduled) <= STDEXEC_PARALLEL_SCHEDULER_SCHEDULE_OP_SIZE, "nopal: an operation allocates nothing");
static_assert(sizeof(bulk_scheduled<true>) <= STDEXEC_PARALLEL_SCHEDULER_BULK_SCHEDULE_OP_SIZE, "nopal: an operation allocates nothing");

// What the process uses; null until it is asked for.
struct current_backend {
  std::mutex mutex;
  replacement::__parallel_scheduler_backend_factory_t factory = [] { return make_parallel_scheduler_backend(default_pool()); };
  std::shared_ptr<replacement::parallel_scheduler_backend> made;
};
// Never destroyed, as default_pool() is not: static destructors may schedule.
current_backend& the_backend() {
  static auto* const b = new current_backend;
  return *b;
}
// As this object is loaded: the guard of a static variable that another thread has taken, and a fork has copied, is never free.
[[gnu::constructor]] void make_backend_from_the_start() { static_cast<void>(the_backend()); }

std::shared_ptr<replacement::parallel_scheduler_backend> query() {
  current_backend& b = the_backend();
  std::scoped_lock const lock{b.mutex};
  if (b.made == nullptr) b.made = b.factory();
  return b.made;
}

}  // namespace

// stdexec declares its query as a weak symbol, so that a program may define it; but a definition that has seen this declaration is weak
// itself, and the linker might take another. So this one has another name in C++, and that one for the linker.
std::shared_ptr<stdexec::parallel_scheduler_replacement::parallel_scheduler_backend> query_parallel_scheduler_backend() asm(
    "_ZN7stdexec30parallel_scheduler_replacement32query_parallel_scheduler_backendEv");
std::shared_ptr<stdexec::parallel_scheduler_replacement::parallel_scheduler_backend> query_parallel_scheduler_backend() { return query(); }

}  // namespace core::senders

std::shared_ptr<stdexec::parallel_scheduler_replacement::parallel_scheduler_backend> make_parallel_scheduler_backend(pool& p) {
  return std::make_shared<core::senders::backend>(core::pool_access::state(p));
}

}  // namespace nopal

// stdexec's own, beyond the standard: takes another back end while the program runs.
namespace stdexec::parallel_scheduler_replacement {

auto set_parallel_scheduler_backend(__parallel_scheduler_backend_factory_t factory) -> __parallel_scheduler_backend_factory_t {
  auto& b = nopal::core::senders::the_backend();
  std::shared_ptr<parallel_scheduler_backend> made = factory();
  std::scoped_lock const lock{b.mutex};
  b.made.swap(made);
  return std::exchange(b.factory, factory);
}

}  // namespace stdexec::parallel_scheduler_replacement
