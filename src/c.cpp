// The C interface: a thin layer over fiber.hpp, native.hpp and pool.hpp, which turns exceptions into a status and a message. Any thread
// calls it.

#include "nopal/nopal.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"

#include "nopal/core/base/fatal.hpp"

struct nopal_pool {
  nopal::pool pool;
};

namespace {

constinit thread_local std::array<char, 512> last_error{};

// Stores the message of the thread that runs here now. Out of line, since that may be another thread than before the call that failed: a
// compiler must not keep the address of the thread-local.
[[gnu::noinline]] nopal_status fail(nopal_status status, char const* what) noexcept {
  std::size_t const n = std::min(std::strlen(what), last_error.size() - 1);
  std::memcpy(last_error.data(), what, n);
  last_error[n] = '\0';
  return status;
}

/// What a user's function has thrown, of any type.
struct thrown_by_user : std::runtime_error {
  using runtime_error::runtime_error;
};

template <class F, class... A>
void call(F fn, A... args) {
  try {
    fn(args...);
  } catch (...) {
    throw thrown_by_user{nopal::core::message_of(nopal::core::caught())};
  }
}

template <class F>
nopal_status guarded(F f) noexcept {
  try {
    f();
    return NOPAL_OK;
  } catch (thrown_by_user const& e) {
    return fail(NOPAL_EXCEPTION, e.what());
  } catch (std::logic_error const& e) {
    return fail(NOPAL_INVALID, e.what());
  } catch (std::bad_alloc const&) {
    return fail(NOPAL_NO_MEMORY, "nopal: out of memory");
  } catch (std::system_error const& e) {
    return fail(NOPAL_SYSTEM, e.what());
  } catch (...) {
    return fail(NOPAL_EXCEPTION, nopal::core::message_of(nopal::core::caught()));
  }
}

nopal_status refuse_null(char const* what) noexcept { return fail(NOPAL_INVALID, what); }

template <class T, class Opaque>
T& as(Opaque* o) noexcept {
  static_assert(sizeof(T) <= sizeof(Opaque) && alignof(T) <= alignof(Opaque));
  return *std::launder(reinterpret_cast<T*>(o->opaque));
}
nopal::scope& in(nopal_scope* s) noexcept { return as<nopal::scope>(s); }
nopal::counter& in(nopal_counter* c) noexcept { return as<nopal::counter>(c); }

template <class Enum>
Enum one_of(int value, int count, char const* option) {
  if (value < 0 || value >= count) {
    throw std::invalid_argument{std::string{"nopal_options::"} + option + " = " + std::to_string(value) +
                                " is not one of the values 0 to " + std::to_string(count - 1) + "; see nopal.h"};
  }
  return static_cast<Enum>(value);
}

nopal::pool_options options_of(nopal_options const* o) {
  nopal::pool_options result;
  if (o == nullptr) return result;
  result.workers = o->workers;
  result.idle = one_of<nopal::idle>(o->idle, 2, "idle");
  if (auto const pin = one_of<nopal_pin>(o->pin, 3, "pin"); pin != NOPAL_PIN_AUTO) result.pin = pin == NOPAL_PIN_YES;
  if (o->stack_size != 0) result.stack_size = o->stack_size;
  result.reclaim = one_of<nopal::reclaim>(o->reclaim, 4, "reclaim");
  result.steal = o->keep_local == 0;
  result.seed = o->seed;
  result.keep_warm = std::chrono::nanoseconds{o->keep_warm};
  result.resume = one_of<nopal::resume>(o->resume, 2, "resume");
  result.victims = one_of<nopal::victims>(o->victims, 3, "victims");
  result.back_off = o->no_back_off == 0;
  return result;
}

}  // namespace

extern "C" {

char const* nopal_last_error(void) { return last_error.data(); }

nopal_pool* nopal_pool_create(nopal_options const* options) {
  nopal_pool* made = nullptr;
  guarded([&] { made = new nopal_pool{options_of(options)}; });
  return made;
}

void nopal_pool_destroy(nopal_pool* pool) { delete pool; }

unsigned nopal_pool_workers(nopal_pool const* pool) {
  unsigned n = 0;
  guarded([&] { n = pool != nullptr ? pool->pool.workers() : nopal::default_pool().workers(); });
  return n;
}

nopal_status nopal_pool_run(nopal_pool* pool, nopal_function fn, void* arg) {
  if (fn == nullptr) return refuse_null("nopal_pool_run: the function is null");
  return guarded([&] { (pool != nullptr ? pool->pool : nopal::default_pool()).run([=] { call(fn, arg); }); });
}

nopal_status nopal_shutdown(int64_t nanoseconds) {
  std::string left;
  nopal_status const s = guarded([&] { left = nopal::shutdown(std::chrono::nanoseconds{nanoseconds}).report(); });
  return s != NOPAL_OK || left.empty() ? s : fail(NOPAL_TIMEOUT, left.c_str());
}

nopal_status nopal_parallel_invoke(nopal_function first, void* first_arg, nopal_function second, void* second_arg) {
  if (first == nullptr || second == nullptr) return refuse_null("nopal_parallel_invoke: a function is null");
  return guarded([&] { nopal::parallel_invoke([&] { call(first, first_arg); }, [&] { call(second, second_arg); }); });
}

nopal_status nopal_scope_init(nopal_scope* scope) {
  if (scope == nullptr) return refuse_null("nopal_scope_init: the scope is null");
  ::new (scope->opaque) nopal::scope;
  return NOPAL_OK;
}

nopal_status nopal_fork(nopal_scope* scope, nopal_function fn, void* arg) {
  if (scope == nullptr) return refuse_null("nopal_fork: the scope is null");
  if (fn == nullptr) return refuse_null("nopal_fork: the function is null");
  return guarded([&] { in(scope).fork([=] { call(fn, arg); }); });
}

nopal_status nopal_join(nopal_scope* scope) {
  if (scope == nullptr) return refuse_null("nopal_join: the scope is null");
  return guarded([&] { in(scope).join(); });
}

nopal_status nopal_parallel_for(size_t first, size_t last, nopal_loop_body body, void* arg) {
  if (body == nullptr) return refuse_null("nopal_parallel_for: the body is null");
  return guarded([&] { nopal::parallel_for_blocks(first, last, [=](size_t f, size_t l) { call(body, f, l, arg); }); });
}

nopal_status nopal_counter_init(nopal_counter* counter, int64_t value) {
  if (counter == nullptr) return refuse_null("nopal_counter_init: the counter is null");
  return guarded([&] { ::new (counter->opaque) nopal::counter{value}; });
}
void nopal_counter_destroy(nopal_counter* counter) {
  if (counter != nullptr) std::destroy_at(&in(counter));
}
nopal_status nopal_counter_add(nopal_counter* counter, int64_t n) {
  if (counter == nullptr) return refuse_null("nopal_counter_add: the counter is null");
  return guarded([&] { in(counter).add(n); });
}
nopal_status nopal_counter_done(nopal_counter* counter, int64_t n) {
  if (counter == nullptr) return refuse_null("nopal_counter_done: the counter is null");
  return guarded([&] { in(counter).done(n); });
}
int64_t nopal_counter_load(nopal_counter const* counter) {
  if (counter == nullptr) return refuse_null("nopal_counter_load: the counter is null"), 0;
  return in(const_cast<nopal_counter*>(counter)).load();
}

nopal_status nopal_spawn(nopal_counter* counter, nopal_function fn, void* arg) {
  if (fn == nullptr) return refuse_null("nopal_spawn: the function is null");
  return guarded([&] {
    if (counter != nullptr) {
      nopal::spawn(in(counter), [=] { call(fn, arg); });
    } else {
      nopal::spawn([=] { call(fn, arg); });
    }
  });
}

nopal_status nopal_wait(nopal_counter* counter, int64_t value) {
  if (counter == nullptr) return refuse_null("nopal_wait: the counter is null");
  return guarded([&] { nopal::wait_for(in(counter), value); });
}

nopal_status nopal_wait_for(nopal_counter* counter, int64_t value, int64_t nanoseconds) {
  if (counter == nullptr) return refuse_null("nopal_wait_for: the counter is null");
  bool reached = false;
  nopal_status const s = guarded([&] { reached = nopal::wait_for(in(counter), value, std::chrono::nanoseconds{nanoseconds}); });
  return s != NOPAL_OK || reached ? s : fail(NOPAL_TIMEOUT, "nopal_wait_for: the time limit expired before the counter reached the value");
}

void nopal_yield(void) { nopal::yield(); }

nopal_status nopal_sleep_for(int64_t nanoseconds) {
  return guarded([&] { nopal::sleep_for(std::chrono::nanoseconds{nanoseconds}); });
}

}  // extern "C"
