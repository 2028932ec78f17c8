#pragma once

// nopal::mpi: MPI that suspends, not blocks. What waits for a message leaves its worker, which runs others meanwhile. Target nopal::mpi.
// docs/mpi.md says when to use what; companions/mpi/README.md, who looks for what has completed, and why no request is lost.

#include "nopal/core/compiler/config.hpp"

#include <mpi.h>

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/event_source.hpp"
#include "nopal/eventually.hpp"
#include "nopal/mpi/basics.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

/// MPI, as long as this lives: begin main with one. There is one at a time; with its end MPI is finalised, so a program has one in its life,
/// unless it attaches. Make it before the pools, so that they ask it for an event source. It has one thread of its own, "nopal-mpi", which
/// has initialised MPI, and looks for what has completed where no worker does. While nobody waits for MPI it sleeps.
///
/// If an exception leaves the scope of the session, or ends the program, MPI_Abort ends all ranks, with a message that names this one. If a
/// rank on the same machine dies, the others end so, and name it. The destructor waits until all ranks are at their session's end.
///
/// In the child of a fork it is the parent's: its destructor does nothing, and nopal::mpi's functions throw std::logic_error.
///
/// Errors: MPI_COMM_WORLD and MPI_COMM_SELF have MPI_ERRORS_RETURN while it lives, then what they had before.
///
///     int main(int argc, char** argv) {
///       nopal::mpi::session s{argc, argv};
///       nopal::pool pool;
///       pool.run([] { ... nopal::mpi::recv(...); ... });
///     }
class NOPAL_API session {
 public:
  /// Initialises MPI, by all ranks at once. A strand on a pool is suspended meanwhile. Throws std::logic_error if there is a session, or if
  /// MPI was initialised or finalised before; std::invalid_argument for an unknown level; error; std::system_error, std::bad_alloc.
  session(int& argc, char**& argv, session_options const& o = {});
  /// Uses the MPI that the program has initialised and will finalise, later than this ends. By all ranks at once. `o.threads` is ignored;
  /// std::logic_error if MPI was not initialised, was finalised, or gives less than MPI_THREAD_SERIALIZED: then this thread alone could
  /// call it. Otherwise as above.
  struct attach {};
  explicit session(attach, session_options const& o = {});
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  /// Ends the program with a message if somebody waits for a request still: let the session outlive its pools, or end their work first.
  ~session();

  /// The caller's rank in MPI_COMM_WORLD, and how many there are.
  int rank() const noexcept;
  int size() const noexcept;
  /// What the library gives, of MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, and at most what was asked for.
  int threads() const noexcept;
  /// True: all calls of MPI must go through the session's thread (call). So it is where the library gives less than MPI_THREAD_SERIALIZED.
  bool funnelled() const noexcept { return threads() < MPI_THREAD_SERIALIZED; }
  /// A new event source, for one pool: pool_options::experimental.events. Throws std::bad_alloc.
  std::shared_ptr<event_source> events() const;

 private:
  int const exceptions_ = std::uncaught_exceptions();
};

/// What a wait does when its caller is asked to stop: by a stop region, a deadline (nopal/stop.hpp) or pool::request_stop.
enum class on_stop {
  /// Goes on until the requests have completed, however long that takes: MPI may write to their buffers until then.
  go_on,
  /// The requests are receives: cancels them (MPI_Cancel), and throws nopal::stopped once they have ended. One that has received its message
  /// before keeps it; the wait succeeds if all have.
  cancel,
  /// Throws nopal::stopped at once, and the requests that have not completed stay the caller's: their buffers must live until they have
  /// been waited for again.
  leave,
};

// ---- Waiting. All functions from here on suspend the fiber, task or function that calls them on a pool; a thread that works for no pool
// sleeps. All throw std::logic_error where there is no session, and error.

/// As MPI_Wait: waits until `request` has completed. That becomes MPI_REQUEST_NULL, or inactive if it is persistent. A null or inactive one
/// returns at once, as one that has completed does. `status` may be null, or MPI_STATUS_IGNORE. Throws std::bad_alloc.
NOPAL_API void wait(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE, on_stop then = on_stop::go_on);
/// As MPI_Waitall. `statuses` is empty, or has a place for each request; else std::invalid_argument. After an error all requests have
/// completed too; each status has MPI_ERROR then, and error::index() is the first that failed.
NOPAL_API void wait_all(std::span<MPI_Request> requests, std::span<MPI_Status> statuses = {}, on_stop then = on_stop::go_on);
/// As MPI_Waitany: waits until one of them has completed, and returns its index; MPI_UNDEFINED if none is active. The others stay as they
/// are. `cancel` is std::invalid_argument here: others than the first would be lost.
NOPAL_API int wait_any(std::span<MPI_Request> requests, MPI_Status* status = MPI_STATUS_IGNORE, on_stop then = on_stop::go_on);

/// Looks for what has completed, and wakes who waits for it. Where it has woken some on the pool for which the caller works, it yields to
/// them: nopal::yield, which leaves the native stack. For programs that wait otherwise than in nopal, and for long computations that want to
/// answer soon: without that, nobody looks for one to four milliseconds while all workers are busy. Costs some calls of MPI while somebody
/// waits, else some 0.1 us. Any thread; does nothing where there is no session, and only wakes whom the session's thread has found where it
/// is funnelled.
NOPAL_API void poll() noexcept;

/// As call, below, for f(with), which must not throw.
NOPAL_API void call_with(void (*f)(void* with), void* with);

/// Calls f() where MPI may be called, and returns what it returns: at once with MPI_THREAD_MULTIPLE; with MPI_THREAD_SERIALIZED while no
/// other thread is in MPI; on the session's thread if it is funnelled. For all calls of MPI's own functions in programs that shall run with
/// any of these. `f` must not wait, in MPI or in nopal, nor call nopal::mpi.
///
///     nopal::mpi::call([&] { MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); });
template <class F>
std::invoke_result_t<F&> call(F&& f) {
  using result = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<result>, "nopal: mpi::call returns by value: what a function of MPI's returns is a number.");
  struct one {
    F& f;
    std::exception_ptr thrown;
    eventually<std::conditional_t<std::is_void_v<result>, char, std::remove_cv_t<result>>> value;
  } mine{f, {}, {}};
  call_with(
      [](void* with) {
        one& m = *static_cast<one*>(with);
        try {
          if constexpr (std::is_void_v<result>) {
            std::invoke(m.f);
          } else {
            core::eventually_access::make(m.value, [&]() -> result { return std::invoke(m.f); });
          }
        } catch (...) {
          m.thrown = core::caught();
        }
      },
      &mine);
  if (mine.thrown != nullptr) std::rethrow_exception(mine.thrown);
  if constexpr (!std::is_void_v<result>) return std::move(*mine.value);
}

// ---- MPI's blocking functions, with its own arguments. A receive and a probe whose caller is asked to stop throw nopal::stopped, if no
// message has come: the receive is cancelled. All others go on until they have completed, since the other ranks count on them, and MPI may
// use the buffers until then. Of collectives on one communicator all ranks must begin the same one next, as in MPI: the strands that call
// them must agree on an order, or have a communicator each.

NOPAL_API void send(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
NOPAL_API void ssend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
NOPAL_API void rsend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
NOPAL_API void recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status = MPI_STATUS_IGNORE);
/// If its caller is asked to stop, the receive is cancelled, but the send must complete first: it is received by another rank, or lost
/// with it.
NOPAL_API void sendrecv(void const* buffer, int count, MPI_Datatype type, int to, int tag, void* into, int into_count,
                        MPI_Datatype into_type, int from, int from_tag, MPI_Comm comm, MPI_Status* status = MPI_STATUS_IGNORE);
/// Waits until a message can be received. Another strand may receive it first, where both take the same: then use mprobe.
NOPAL_API void probe(int from, int tag, MPI_Comm comm, MPI_Status* status = MPI_STATUS_IGNORE);
/// As probe, and the message is the caller's, for mrecv.
NOPAL_API void mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status = MPI_STATUS_IGNORE);
NOPAL_API void mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status = MPI_STATUS_IGNORE);

NOPAL_API void barrier(MPI_Comm comm);
NOPAL_API void bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
NOPAL_API void reduce(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
NOPAL_API void allreduce(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
NOPAL_API void reduce_scatter(void const* buffer, void* into, int const counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);
NOPAL_API void reduce_scatter_block(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
NOPAL_API void scan(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
NOPAL_API void exscan(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
NOPAL_API void gather(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, int root,
                      MPI_Comm comm);
NOPAL_API void gatherv(void const* buffer, int count, MPI_Datatype type, void* into, int const into_counts[], int const displacements[],
                       MPI_Datatype into_type, int root, MPI_Comm comm);
NOPAL_API void scatter(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, int root,
                       MPI_Comm comm);
NOPAL_API void scatterv(void const* buffer, int const counts[], int const displacements[], MPI_Datatype type, void* into, int into_count,
                        MPI_Datatype into_type, int root, MPI_Comm comm);
NOPAL_API void allgather(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,
                         MPI_Comm comm);
NOPAL_API void allgatherv(void const* buffer, int count, MPI_Datatype type, void* into, int const into_counts[], int const displacements[],
                          MPI_Datatype into_type, MPI_Comm comm);
NOPAL_API void alltoall(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type,
                        MPI_Comm comm);
NOPAL_API void alltoallv(void const* buffer, int const counts[], int const displacements[], MPI_Datatype type, void* into,
                         int const into_counts[], int const into_displacements[], MPI_Datatype into_type, MPI_Comm comm);

}  // namespace nopal::mpi
