// A slower network: with NOPAL_MPI_DELAY_US=500 in the environment each message that MPI_Send or MPI_Isend sends leaves 500 us later. The send
// itself completes at once, as if MPI had a buffer. A thread of its own sends what is due, in order. Receives and waits stay as they are, so a
// wait that comes late waits less. By MPI's profiling names; without the variable, or with 0, nothing changes. In a program's sources.

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

struct message {
  std::vector<char> bytes;
  int to, tag;
  MPI_Comm comm;
  clock_type::time_point due;
};

std::chrono::microseconds const delay = [] {
  char const* const text = std::getenv("NOPAL_MPI_DELAY_US");
  if (text == nullptr || *text == '\0') return std::chrono::microseconds{0};
  char* end = nullptr;
  long const us = std::strtol(text, &end, 10);
  if (*end != '\0' || us < 0 || us > 1'000'000) {
    std::fprintf(stderr, "NOPAL_MPI_DELAY_US=%s: it is a number of microseconds, from 0 to 1000000\n", text);
    std::exit(2);
  }
  return std::chrono::microseconds{us};
}();

// The messages that are not due yet, and the thread that sends them.
class network {
 public:
  void send(message m) {
    std::lock_guard const lock{mutex_};
    if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
    queue_.push_back(std::move(m));
    changed_.notify_one();
  }
  // Sends all that is there.
  void end() {
    {
      std::lock_guard const lock{mutex_};
      ends_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct sent {
    message m;
    MPI_Request request;
  };
  void run() {
    std::deque<sent> under_way;
    std::unique_lock lock{mutex_};
    while (!ends_ || !queue_.empty() || !under_way.empty()) {
      auto const now = clock_type::now();
      if (!queue_.empty() && queue_.front().due <= now) {
        under_way.push_back({std::move(queue_.front()), MPI_REQUEST_NULL});
        queue_.pop_front();
        lock.unlock();
        sent& s = under_way.back();
        PMPI_Isend(s.m.bytes.data(), static_cast<int>(s.m.bytes.size()), MPI_BYTE, s.m.to, s.m.tag, s.m.comm, &s.request);
        lock.lock();
        continue;
      }
      lock.unlock();
      while (!under_way.empty()) {
        int done = 0;
        PMPI_Test(&under_way.front().request, &done, MPI_STATUS_IGNORE);
        if (done == 0) break;
        under_way.pop_front();
      }
      lock.lock();
      auto until = now + std::chrono::milliseconds{100};
      if (!under_way.empty()) until = now + std::chrono::microseconds{50};
      if (!queue_.empty()) until = std::min(until, queue_.front().due);
      if (queue_.empty() && under_way.empty() && ends_) break;
      changed_.wait_until(lock, until);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<message> queue_;
  bool ends_ = false;
  std::thread thread_;
};
network& slow_network() {
  static network n;
  return n;
}

int send_later(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int size = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &low, &extent);
  if (low != 0 || extent != size) {
    std::fprintf(stderr, "NOPAL_MPI_DELAY_US: a message of a type with gaps, which this layer does not copy\n");
    PMPI_Abort(comm, 2);
  }
  message m{std::vector<char>(static_cast<std::size_t>(count) * static_cast<std::size_t>(size)), to, tag, comm, clock_type::now() + delay};
  if (!m.bytes.empty()) std::memcpy(m.bytes.data(), buffer, m.bytes.size());
  slow_network().send(std::move(m));
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return PMPI_Init_thread(argc, argv, delay.count() != 0 ? MPI_THREAD_MULTIPLE : required, provided);
}
int MPI_Send(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (delay.count() == 0 || to == MPI_PROC_NULL) return PMPI_Send(buffer, count, type, to, tag, comm);
  return send_later(buffer, count, type, to, tag, comm);
}
int MPI_Isend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (delay.count() == 0 || to == MPI_PROC_NULL) return PMPI_Isend(buffer, count, type, to, tag, comm, request);
  send_later(buffer, count, type, to, tag, comm);
  return PMPI_Isend(buffer, 0, type, MPI_PROC_NULL, tag, comm, request);  // a request that has completed
}
int MPI_Finalize() {
  slow_network().end();
  return PMPI_Finalize();
}

}  // extern "C"
