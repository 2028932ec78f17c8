#include "peers.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace nopal::inline NOPAL_ABI::mpi {

peers::~peers() {
  for (peer const& p : all_) ::close(p.file);
  if (died_ >= 0) ::close(died_);
  if (woken_ >= 0) ::close(woken_);
}

void peers::open() {
  woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  died_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (woken_ < 0 || died_ < 0)
    throw std::system_error{errno, std::generic_category(), "nopal::mpi::session: no file for its thread's wake-ups"};
}

int peers::find(MPI_Comm all) {
  struct stat space{};
  static_cast<void>(::stat("/proc/self/ns/pid", &space));
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm near = MPI_COMM_NULL;
  if (int const code = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near); code != MPI_SUCCESS) return code;
  int n = 0;
  MPI_Comm_size(near, &n);
  std::array<long long, 3> const mine{rank, ::getpid(), static_cast<long long>(space.st_ino)};
  std::vector<long long> theirs(static_cast<std::size_t>(n) * mine.size());
  int const code = MPI_Allgather(mine.data(), mine.size(), MPI_LONG_LONG, theirs.data(), mine.size(), MPI_LONG_LONG, near);
  MPI_Comm_free(&near);
  if (code != MPI_SUCCESS) return code;
  all_.reserve(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < theirs.size(); k += mine.size()) {
    if (theirs[k] == mine[0] || theirs[k + 2] != mine[2]) continue;
    auto const process = static_cast<pid_t>(theirs[k + 1]);
    int const file = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (file < 0) continue;
    all_.push_back({static_cast<int>(theirs[k]), process, file});
    epoll_event e{.events = EPOLLIN, .data = {.u64 = all_.size() - 1}};
    ::epoll_ctl(died_, EPOLL_CTL_ADD, file, &e);
  }
  return MPI_SUCCESS;
}

void peers::sleep(std::int64_t nanoseconds) noexcept {
  std::array<pollfd, 2> files{pollfd{.fd = woken_, .events = POLLIN, .revents = 0}, pollfd{.fd = died_, .events = POLLIN, .revents = 0}};
  timespec const t{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  nfds_t const n = dead_ == nullptr ? 2 : 1;  // of several the first is enough
  if (::ppoll(files.data(), n, nanoseconds < 0 ? nullptr : &t, nullptr) <= 0) return;
  eventfd_t before;
  if (files[0].revents != 0) ::eventfd_read(woken_, &before);
  epoll_event e{};
  if (n == 2 && files[1].revents != 0 && ::epoll_wait(died_, &e, 1, 0) == 1) dead_ = &all_[e.data.u64];
}

void peers::wake() const noexcept { ::eventfd_write(woken_, 1); }

}  // namespace nopal::mpi
