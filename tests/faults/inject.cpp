#include "inject.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <hwloc.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <new>

#include "../mix.hpp"
#include "../scale.hpp"

// ---- The real functions. Those of a sanitizer replace libc's, and let a program put its own before them.

#ifdef NOPAL_TEST_SANITIZED
#define REAL(name) ___interceptor_##name
extern "C" {
void* ___interceptor_malloc(std::size_t);
void* ___interceptor_calloc(std::size_t, std::size_t);
void* ___interceptor_realloc(void*, std::size_t);
int ___interceptor_posix_memalign(void**, std::size_t, std::size_t);
void* ___interceptor_mmap(void*, std::size_t, int, int, int, off_t);
int ___interceptor_munmap(void*, std::size_t);
int ___interceptor_pthread_create(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
}
#else
#define REAL(name) __libc_##name
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}
#endif

namespace test::faults {
namespace {

constinit std::atomic<bool> is_armed{false};
constinit plan now{};            // written before is_armed
constinit std::int64_t end = 0;  // the same: a time in milliseconds
constinit std::atomic<std::uint64_t> counted{0}, failed{0};
constinit std::array<std::atomic<std::uint64_t>, kinds> by_kind{};
constinit std::atomic<std::int64_t> blocks{0}, mapped{0};
constinit std::atomic<trace*> kept{nullptr};
/// A sanitizer ends the program if it finds no memory to start a thread with: so no call fails until the thread's own function begins.
constinit thread_local bool is_spared = sanitized;

std::int64_t time_in_ms() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

void remember(kind k, std::uint64_t number) noexcept {
  trace* const t = kept.exchange(nullptr);
  if (t == nullptr) return;
  bool const before = is_spared;
  is_spared = true;
  t->what = k;
  t->number = number;
  t->depth = ::backtrace(t->callers.data(), static_cast<int>(t->callers.size()));
  is_spared = before;
}

/// True if this call must fail.
bool fails(kind k) noexcept {
  if (!is_armed.load(std::memory_order_acquire) || is_spared) return false;
  by_kind[static_cast<unsigned>(k)].fetch_add(1, std::memory_order_relaxed);
  if ((now.kinds & of(k)) == 0) return false;
  std::uint64_t const n = counted.fetch_add(1, std::memory_order_relaxed) + 1;
  std::uint64_t const last = now.last != 0 ? now.last : now.first;
  bool const due = (n >= now.first && n <= last) || (now.one_in != 0 && mix(now.seed ^ mix(n)) % now.one_in == 0);
  if (!due || time_in_ms() > end) return false;
  failed.fetch_add(1, std::memory_order_relaxed);
  remember(k, n);
  return true;
}

#ifdef NOPAL_TEST_SANITIZED
[[gnu::constructor]] void main_thread_begins() { is_spared = false; }

struct beginning {
  void* (*f)(void*);
  void* with;
};
void* thread_begins(void* p) {
  beginning const b = *static_cast<beginning*>(p);
  std::free(p);
  is_spared = false;
  void* const result = b.f(b.with);
  is_spared = true;
  return result;
}
#endif

template <class F>
F* next(char const* name) noexcept {
  spared const mine;
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

void* real_aligned(std::size_t size, std::size_t alignment) noexcept {
#ifdef NOPAL_TEST_SANITIZED
  void* p = nullptr;
  return REAL(posix_memalign)(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) == 0 ? p : nullptr;
#else
  return REAL(memalign)(alignment, size);
#endif
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (fails(kind::allocation)) return nullptr;
  if (size == 0) size = 1;
  void* const p = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? REAL(malloc)(size) : real_aligned(size, alignment);
  if (p != nullptr) blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}
void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const p = allocate(size, alignment)) return p;
  throw std::bad_alloc{};
}
void release(void* p) noexcept {
  if (p != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

void* no_memory() noexcept {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

char const* name(kind k) noexcept {
  static constexpr std::array<char const*, kinds> names{"operator new",
                                                        "malloc",
                                                        "mmap",
                                                        "mprotect",
                                                        "munmap",
                                                        "madvise",
                                                        "mincore",
                                                        "pthread_create",
                                                        "pthread_setaffinity_np",
                                                        "sigaltstack",
                                                        "pthread_key_create or pthread_setspecific",
                                                        "futex wait",
                                                        "futex wake",
                                                        "membarrier",
                                                        "hwloc"};
  return names[static_cast<unsigned>(k)];
}

void arm(plan const& p) noexcept {
  // backtrace loads a library the first time.
  static int const primed = [] {
    spared const mine;
    void* caller = nullptr;
    return ::backtrace(&caller, 1);
  }();
  static_cast<void>(primed);
  is_armed.store(false, std::memory_order_seq_cst);
  for (auto& n : by_kind) n = 0;
  counted = failed = 0;
  now = p;
  end = time_in_ms() + p.milliseconds;
  is_armed.store(true, std::memory_order_release);
}
void disarm() noexcept { is_armed.store(false, std::memory_order_seq_cst); }

spared::spared() noexcept : before_{is_spared} { is_spared = true; }
spared::~spared() { is_spared = before_; }

std::uint64_t calls(kind k) noexcept { return by_kind[static_cast<unsigned>(k)].load(); }
std::uint64_t failures() noexcept { return failed.load(); }
std::int64_t live_blocks() noexcept { return blocks.load(); }
std::int64_t mapped_bytes() noexcept { return mapped.load(); }
void keep_trace_in(trace* t) noexcept { kept = t; }

}  // namespace test::faults

using namespace test::faults;

// ---- operator new.

void* operator new(std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 1); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept { return allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept { return allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { release(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t, std::nothrow_t const&) noexcept { release(p); }

// ---- C functions.

extern "C" {

void* malloc(std::size_t n) { return fails(kind::c_allocation) ? no_memory() : REAL(malloc)(n); }
void* calloc(std::size_t n, std::size_t size) { return fails(kind::c_allocation) ? no_memory() : REAL(calloc)(n, size); }
void* realloc(void* p, std::size_t n) { return fails(kind::c_allocation) ? no_memory() : REAL(realloc)(p, n); }
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  if (fails(kind::c_allocation)) return ENOMEM;
  void* const made = real_aligned(n, alignment);
  if (made == nullptr) return ENOMEM;
  *p = made;
  return 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t n) { return fails(kind::c_allocation) ? no_memory() : real_aligned(n, alignment); }

void* mmap(void* at, std::size_t n, int protection, int flags, int file, off_t offset) noexcept {
  if (fails(kind::map)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
#ifdef NOPAL_TEST_SANITIZED
  void* const made = REAL(mmap)(at, n, protection, flags, file, offset);
#else
  static auto* const real = next<decltype(mmap)>("mmap");
  void* const made = real(at, n, protection, flags, file, offset);
#endif
  if (made != MAP_FAILED && (flags & MAP_FIXED) == 0) mapped.fetch_add(static_cast<std::int64_t>(n), std::memory_order_relaxed);
  return made;
}

int munmap(void* at, std::size_t n) noexcept {
  if (fails(kind::unmap)) {
    errno = ENOMEM;
    return -1;
  }
#ifdef NOPAL_TEST_SANITIZED
  int const error = REAL(munmap)(at, n);
#else
  static auto* const real = next<decltype(munmap)>("munmap");
  int const error = real(at, n);
#endif
  if (error == 0) mapped.fetch_sub(static_cast<std::int64_t>(n), std::memory_order_relaxed);
  return error;
}

int mprotect(void* at, std::size_t n, int protection) noexcept {
  static auto* const real = next<decltype(mprotect)>("mprotect");
  if (!fails(kind::protect)) return real(at, n, protection);
  errno = ENOMEM;
  return -1;
}

int madvise(void* at, std::size_t n, int advice) noexcept {
  static auto* const real = next<decltype(madvise)>("madvise");
  if (!fails(kind::advise)) return real(at, n, advice);
  errno = EAGAIN;
  return -1;
}

int mincore(void* at, std::size_t n, unsigned char* resident) noexcept {
  static auto* const real = next<decltype(mincore)>("mincore");
  if (!fails(kind::resident)) return real(at, n, resident);
  errno = EAGAIN;
  return -1;
}

int pthread_create(pthread_t* made, pthread_attr_t const* attributes, void* (*f)(void*), void* with) noexcept {
  if (fails(kind::thread)) return EAGAIN;
#ifdef NOPAL_TEST_SANITIZED
  spared const sanitizer;
  auto* const b = static_cast<beginning*>(REAL(malloc)(sizeof(beginning)));
  *b = {f, with};
  int const error = REAL(pthread_create)(made, attributes, thread_begins, b);
  if (error != 0) std::free(b);
  return error;
#else
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  return real(made, attributes, f, with);
#endif
}

int pthread_setaffinity_np(pthread_t thread, std::size_t n, cpu_set_t const* set) noexcept {
  static auto* const real = next<decltype(pthread_setaffinity_np)>("pthread_setaffinity_np");
  return fails(kind::pin) ? EINVAL : real(thread, n, set);
}

#ifndef NOPAL_TEST_SANITIZED  // they need these themselves; nopal does without there
int sigaltstack(stack_t const* mine, stack_t* before) noexcept {
  static auto* const real = next<decltype(sigaltstack)>("sigaltstack");
  if (!fails(kind::signal_stack)) return real(mine, before);
  errno = ENOMEM;
  return -1;
}

int pthread_key_create(pthread_key_t* key, void (*f)(void*)) noexcept {
  static auto* const real = next<decltype(pthread_key_create)>("pthread_key_create");
  return fails(kind::thread_key) ? EAGAIN : real(key, f);
}
int pthread_setspecific(pthread_key_t key, void const* value) noexcept {
  static auto* const real = next<decltype(pthread_setspecific)>("pthread_setspecific");
  return fails(kind::thread_key) ? ENOMEM : real(key, value);
}
#endif

// hwloc 2.9 crashes if an allocation of its own fails (it does not check the result of hwloc_bitmap_alloc): it fails as a whole.
int hwloc_topology_init(hwloc_topology_t* made) {
  static auto* const real = next<decltype(hwloc_topology_init)>("hwloc_topology_init");
  if (fails(kind::topology)) return -1;
  spared const hwloc;
  return real(made);
}
int hwloc_topology_load(hwloc_topology_t machine) {
  static auto* const real = next<decltype(hwloc_topology_load)>("hwloc_topology_load");
  if (fails(kind::topology)) return -1;
  spared const hwloc;
  return real(machine);
}
int hwloc_topology_restrict(hwloc_topology_t machine, hwloc_const_cpuset_t set, unsigned long flags) {
  static auto* const real = next<decltype(hwloc_topology_restrict)>("hwloc_topology_restrict");
  if (fails(kind::topology)) return -1;
  spared const hwloc;
  return real(machine, set, flags);
}

long syscall(long number, ...) noexcept {
  static constinit std::atomic<decltype(&syscall)> known = nullptr;  // LLVM's C++ library calls this to initialise static objects
  auto* real = known.load(std::memory_order_relaxed);                // relaxed: each thread that reads null finds the same function
  if (real == nullptr) known.store(real = next<decltype(syscall)>("syscall"), std::memory_order_relaxed);
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  if (number == SYS_membarrier && fails(kind::membarrier)) {
    errno = ENOSYS;
    return -1;
  }
  if (number == SYS_futex) {
    long const operation = a[1] & FUTEX_CMD_MASK;
    if (operation == FUTEX_WAIT && fails(kind::futex_wait)) {
      static constexpr std::array<int, 3> errors{EINTR, EAGAIN, ENOSYS};
      errno = errors[failures() % errors.size()];
      return -1;
    }
    if (operation == FUTEX_WAKE && fails(kind::futex_wake)) {
      errno = ENOSYS;
      return -1;
    }
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
