#pragma once

// Memory that ends: atomics and plain data of the model that know when they are destroyed. If the waiters of a protocol may destroy its
// objects, no other thread may access them later; here a later access is a failure, as a race is.

#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explorer.hpp"

namespace model {

/// The present or last object at an address. Stored apart from the address, which may be on a reused stack: a late access must find that
/// the object is gone, and not another object.
class memory {
 public:
  template <class T>
  struct cell {
    T value;
    detail::history life;  // every use reads it, the end writes it
    bool gone = false;

    void used(where const& at) noexcept {
      if (gone) check(false, "what is gone was used");
      detail::plain_read(life, "the life of an object", at);
    }
    void end(where const& at) noexcept {
      detail::plain_write(life, "the life of an object, which ends here", at);
      gone = true;
    }
  };

  template <class T, class... A>
  static void begin(void* at, A&&... a) {
    auto* const c = new cell<T>{T(std::forward<A>(a)...), {}, false};
    detail::plain_write(c->life, "the life of an object", where::current());
    owned_.emplace_back(c, [](void* p) { delete static_cast<cell<T>*>(p); });
    cells_[at] = c;
  }
  template <class T>
  static cell<T>& at(void const* a) noexcept {
    return *static_cast<cell<T>*>(cells_.find(a)->second);
  }
  /// At the beginning of each execution.
  static void clear() {
    cells_.clear();
    owned_.clear();
  }

 private:
  static inline std::unordered_map<void const*, void*> cells_;
  static inline std::vector<std::unique_ptr<void, void (*)(void*)>> owned_;
};

template <class T>
class mortal_atomic {
  using cell = memory::cell<model::atomic<T>>;

 public:
  mortal_atomic() : mortal_atomic(T{}) {}
  explicit(false) mortal_atomic(T v) { memory::begin<model::atomic<T>>(this, v); }
  mortal_atomic(mortal_atomic const&) = delete;
  mortal_atomic& operator=(mortal_atomic const&) = delete;
  ~mortal_atomic() { here().end(where::current()); }

  T load(std::memory_order o = std::memory_order_seq_cst, where at = where::current()) const noexcept { return used(at).load(o, at); }
  void store(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept { used(at).store(v, o, at); }
  T exchange(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return used(at).exchange(v, o, at);
  }
  T fetch_add(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return used(at).fetch_add(v, o, at);
  }
  T fetch_sub(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return used(at).fetch_sub(v, o, at);
  }
  T fetch_or(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return used(at).fetch_or(v, o, at);
  }
  T fetch_and(T v, std::memory_order o = std::memory_order_seq_cst, where at = where::current()) noexcept {
    return used(at).fetch_and(v, o, at);
  }
  bool compare_exchange_strong(T& expected, T v, std::memory_order o, std::memory_order failed, where at = where::current()) noexcept {
    return used(at).compare_exchange_strong(expected, v, o, failed, at);
  }
  bool compare_exchange_weak(T& expected, T v, std::memory_order o, std::memory_order failed, where at = where::current()) noexcept {
    return used(at).compare_exchange_weak(expected, v, o, failed, at);
  }

  model::atomic<T>& used(where const& at) const noexcept {
    here().used(at);
    return here().value;
  }
  /// By its address only: it may be destroyed.
  model::atomic<T>& address() const noexcept { return here().value; }

 private:
  cell& here() const noexcept { return memory::at<model::atomic<T>>(this); }
};

/// A plain member of a shipped class.
template <class T>
class mortal {
  using cell = memory::cell<var<T>>;

 public:
  mortal() : mortal(T{}) {}
  explicit(false) mortal(T v) { memory::begin<var<T>>(this, std::move(v)); }
  mortal(mortal const&) = delete;
  ~mortal() { here().end(where::current()); }

  operator T() const noexcept { return used().get(); }
  mortal& operator=(T v) noexcept {
    used().set(std::move(v));
    return *this;
  }
  mortal& operator=(mortal const& o) noexcept { return *this = static_cast<T>(o); }
  T operator->() const noexcept
    requires std::is_pointer_v<T>
  {
    return *this;
  }

 private:
  var<T>& used() const noexcept {
    here().used(where::current());
    return here().value;
  }
  cell& here() const noexcept { return memory::at<var<T>>(this); }
};

}  // namespace model
