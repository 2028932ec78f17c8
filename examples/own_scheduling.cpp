// A program's own idling and choice of victims. Workers that have nothing to do wait in epoll, fibers wait there for bytes, and a thief
// tries its neighbours first. Work: O(clients · messages). Span: O(messages), a client's own follow each other.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "nopal/nopal.hpp"

namespace {

class epoll final : public nopal::event_source {
 public:
  epoll() {
    epoll_event e{.events = EPOLLIN, .data = {.ptr = nullptr}};
    ::epoll_ctl(all_, EPOLL_CTL_ADD, woken_, &e);
  }
  ~epoll() override { ::close(woken_), ::close(all_); }

  // Suspends the fiber until there is something to read, also if it is asked to stop: epoll knows where its counter is.
  void await(int file) {
    nopal::counter readable{1};
    asked_.fetch_add(1, std::memory_order_release);  // pairs with the load in poll: race detectors do not see that the kernel orders this
    epoll_event e{.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = &readable}};
    if (::epoll_ctl(all_, EPOLL_CTL_MOD, file, &e) != 0 && ::epoll_ctl(all_, EPOLL_CTL_ADD, file, &e) != 0) {
      readable.done();  // nobody else will
      throw std::system_error{errno, std::generic_category(), "epoll_ctl"};
    }
    nopal::without_stop([&] { readable.wait(); });
  }

  void poll() noexcept override {
    std::array<epoll_event, 64> some;
    int const n = ::epoll_wait(all_, some.data(), static_cast<int>(some.size()), 0);
    static_cast<void>(asked_.load(std::memory_order_acquire));  // pairs with the addition in await
    for (int k = 0; k < n; ++k) {
      auto* const readable = static_cast<nopal::counter*>(some[static_cast<std::size_t>(k)].data.ptr);
      eventfd_t wakes;
      readable != nullptr ? readable->done() : static_cast<void>(::eventfd_read(woken_, &wakes));
    }
  }
  void wait() noexcept override {
    pollfd all{.fd = all_, .events = POLLIN, .revents = 0};
    ::poll(&all, 1, -1);
  }
  void wake() noexcept override { ::eventfd_write(woken_, 1); }

 private:
  std::atomic<unsigned> asked_{0};
  int const all_ = ::epoll_create1(EPOLL_CLOEXEC), woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

}  // namespace

int main() {
  constexpr int clients = 100, messages = 50;
  auto const events = std::make_shared<epoll>();
  nopal::pool_options options;
  options.experimental.events = events;
  options.experimental.choose_victim = [](unsigned thief, unsigned workers, std::uint64_t random) {
    return random % 4 != 0 ? (thief + 1) % workers : static_cast<unsigned>(random / 4 % workers);  // its neighbour, or any
  };
  nopal::pool pool{options};
  std::atomic<long> sum{0};
  nopal::counter all;
  for (int c = 0; c < clients; ++c) {
    std::array<int, 2> ends;
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return 2;
    pool.spawn(all, [&, server = ends[0]] {  // sends each byte back
      for (int k = 0; k < messages; ++k) {
        char byte;
        events->await(server);
        if (::read(server, &byte, 1) != 1 || ::write(server, &byte, 1) != 1) return;
      }
      ::close(server);
    });
    pool.spawn(all, [&, client = ends[1]] {
      for (char k = 0; k < messages; ++k) {
        char byte = k;
        if (::write(client, &byte, 1) != 1) return;
        events->await(client);
        if (::read(client, &byte, 1) == 1) sum += byte;
      }
      ::close(client);
    });
  }
  all.wait();
  std::printf("%d clients, %ld\n", clients, sum.load());
  return sum == long{clients} * messages * (messages - 1) / 2 ? 0 : 1;
}
