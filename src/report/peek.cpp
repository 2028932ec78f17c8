// Lets the kernel read this process, in two ways.

#include "report/peek.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>

namespace nopal::inline NOPAL_ABI::core {

// If process_vm_readv is not permitted, as by a filter of system calls.
static bool read_from_file(void* to, void const* from, std::size_t n) noexcept {
  int const memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  bool const read = ::pread(memory, to, n, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(from))) == static_cast<ssize_t>(n);
  ::close(memory);
  return read;
}

bool peek(void* to, void const* from, std::size_t n) noexcept {
  iovec const here{to, n};
  iovec const there{const_cast<void*>(from), n};
  ssize_t const got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
  return got == static_cast<ssize_t>(n) || (got < 0 && read_from_file(to, from, n));
}

}  // namespace nopal::core
