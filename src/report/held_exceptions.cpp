// A list of all counters that keep an exception, with its message, under one lock.

#include "report/held_exceptions.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The message of one counter's exception. Copied when the counter gets the exception, since a handler that catches it later may change it.
struct held {
  void const* where;
  held* next;
  std::array<char, 160> words;
};
constinit own_mutex mutex;
constinit held* newest_held = nullptr;  // linked by next

held** find(void const* where) noexcept {
  held** at = &newest_held;
  while (*at != nullptr && (*at)->where != where) at = &(*at)->next;
  return at;
}

void remove(void const* where) noexcept {
  held** const at = find(where);
  if (held* const h = *at; h != nullptr) {
    *at = h->next;
    ::operator delete(h);
  }
}

}  // namespace

// The lock is held while the counter takes the exception, so that the message is always that of the exception that it keeps, the first.
void hold(void const* where, std::exception_ptr const& e, void (*f)(void*), void* with) noexcept {
  char const* const words = message_of(e);  // not under the lock, since it calls the program's what()
  void* const memory = ::operator new(sizeof(held), std::nothrow);
  std::lock_guard const guard{mutex};
  if (memory != nullptr && *find(where) == nullptr) {
    auto* const h = ::new (memory) held{where, newest_held, {}};
    std::size_t const n = std::min(std::strlen(words), h->words.size() - 1);
    std::memcpy(h->words.data(), words, n);
    newest_held = h;
  } else {
    ::operator delete(memory);
  }
  f(with);
}

void drop_held(void const* where, void (*f)(void*), void* with) noexcept {
  std::lock_guard const guard{mutex};
  f(with);
  remove(where);
}

void hold_exceptions() noexcept { mutex.lock(); }
void release_exceptions() noexcept { mutex.unlock(); }

std::string message_held(void const* where) {
  std::lock_guard const guard{mutex};
  held const* const h = *find(where);
  return h == nullptr ? std::string{} : std::string{h->words.data()};
}

}  // namespace nopal::core
