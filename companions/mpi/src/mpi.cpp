#include "nopal/mpi.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "engine.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/fiber.hpp"
#include "nopal/stop.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

// ---- Errors.

// f() where MPI may be called; where there is no session, at once.
template <class F>
static void ask_mpi(F f) {
  if (engine::here_or_null() == nullptr) return f();
  call_with([](void* with) { (*static_cast<F*>(with))(); }, &f);
}

static int class_of(int code) {
  int c = code;
  ask_mpi([&] { MPI_Error_class(code, &c); });
  return c;
}

static std::string text_of(char const* call, int code, int index) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0, asked = MPI_SUCCESS;
  std::string what = std::string{"nopal: "} + call;
  if (index >= 0) what += ", request " + std::to_string(index);
  what += ": ";
  ask_mpi([&] { asked = MPI_Error_string(code, text.data(), &length); });
  if (asked == MPI_SUCCESS) {
    what.append(text.data(), static_cast<std::size_t>(length));
  } else {
    what += "error " + std::to_string(code);
  }
  return what;
}

error::error(char const* call, int code, int index)
    : std::runtime_error{text_of(call, code, index)}, code_{code}, class_{class_of(code)}, index_{index}, call_{call} {}

// ---- The session.

static std::shared_ptr<event_source> source_for_new_pool() {
  std::shared_ptr<engine> e = engine::of_session();
  if (e == nullptr || !e->serves_pools()) return nullptr;
  return std::make_shared<source>(std::move(e));
}
static void serve_new_pools() {
  static constinit std::atomic_flag asked = ATOMIC_FLAG_INIT;  // no guard, which a fork could find taken
  if (asked.test_and_set(std::memory_order_relaxed)) return;   // relaxed: it orders nothing, since another session is refused meanwhile
  try {
    core::bring_events_to_new_pools(source_for_new_pool);
  } catch (...) {
    asked.clear(std::memory_order_relaxed);  // relaxed: as above
    throw;
  }
}

session::session(int& argc, char**& argv, session_options const& o) {
  serve_new_pools();
  engine::start(&argc, &argv, o);
}
session::session(attach, session_options const& o) {
  serve_new_pools();
  engine::start(nullptr, nullptr, o);
}
session::~session() {
  if (engine::is_of_parent()) return;
  engine& e = *engine::of_session();
  if (std::uncaught_exceptions() > exceptions_) e.abort("leaves its session by an exception");
  if (e.has_waiters())
    e.abort("ends its session while a strand or thread waits for MPI: let the session outlive the pools, or end their work first");
  engine::end();
}
int session::rank() const noexcept { return engine::of_session_or_parent()->rank(); }
int session::size() const noexcept { return engine::of_session_or_parent()->size(); }
int session::threads() const noexcept { return engine::of_session_or_parent()->threads(); }
std::shared_ptr<event_source> session::events() const {
  engine::check_process("mpi::session::events");
  return std::make_shared<source>(engine::of_session());
}

// ---- How a wait waits.

// Waits until `c` was told. False: the caller is asked to stop, and `c` has not ended.
static bool is_told(command& c, on_stop then) {
  if (then != on_stop::go_on && core::wait_may_end_early()) {
    try {
      return c.told.try_acquire_until(core::time_point::max());
    } catch (stopped const&) {
      return false;
    } catch (std::exception const&) {
      // no memory, or no thread, for listening to requests: it waits on
    }
  }
  c.told.acquire();
  return true;
}

namespace {

// Ends a wait early. The caller waits for this and for that wait.
template <class Wait>
struct end_early : command {
  Wait& of;
  end_early(Wait& w, void (*how)(engine& e, Wait& of) noexcept) noexcept : of{w}, how_{how} {
    taken = [](engine& e, command& c) noexcept {
      auto& me = static_cast<end_early&>(c);
      me.how_(e, me.of);
      e.ended(me);
    };
  }
  void operator()(engine& e) noexcept {
    e.give(*this);
    told.acquire();
    of.told.acquire();
  }

 private:
  void (*const how_)(engine&, Wait&) noexcept;
};

}  // namespace

static void check_thread(engine const& e, char const* call) {
  if (!e.funnelled() || !e.on_own_thread()) return;
  throw std::logic_error{std::string{"nopal: mpi::call: "} + call +
                         " waits, in a function that the session's thread runs, which would wait for itself; wait outside of mpi::call"};
}

// Waits until all requests of `w` have ended; throws nopal::stopped if not.
static void wait_until_ended(engine& e, wait_for_all& w, char const* call, on_stop then) {
  check_thread(e, call);
  if (e.funnelled()) {
    w.taken = [](engine& in, command& c) noexcept {
      auto& me = static_cast<wait_for_all&>(c);
      engine::begin(me) ? in.ended(me) : in.add(me);
    };
  } else {
    bool all = false;
    e.here_in_turn([&]() noexcept { all = engine::begin(w); });
    if (all) return;
    w.taken = [](engine& in, command& c) noexcept { in.add(static_cast<wait_for_all&>(c)); };
  }
  e.give(w);
  if (is_told(w, then)) return;
  if (then == on_stop::leave) {
    end_early<wait_for_all>{w, [](engine& in, wait_for_all& of) noexcept {
                              if (of.left > 0) in.remove(of);
                            }}(e);
    return;
  }
  end_early<wait_for_all>{w, [](engine&, wait_for_all& of) noexcept {
                            for (one_request& r : of.requests) {
                              if (r.has_ended || !r.may_cancel) continue;
                              r.asked_to_end = true;
                              MPI_Cancel(&r.request);
                            }
                          }}(e);
}

static void wait_until_ended(engine& e, wait_by_test& w, char const* call, on_stop then) {
  check_thread(e, call);
  w.taken = [](engine& in, command& c) noexcept {
    auto& me = static_cast<wait_by_test&>(c);
    in.funnelled() && me.test(me) ? in.ended(me) : in.add(me);
  };
  if (!e.funnelled()) {
    bool has_ended = false;
    e.here_in_turn([&]() noexcept { has_ended = w.test(w); });
    if (has_ended) return;
  }
  e.give(w);
  if (is_told(w, then)) return;
  end_early<wait_by_test>{w, [](engine& in, wait_by_test& of) noexcept {
                            if (!of.is_tested) return;
                            of.gave_up = true;
                            in.remove(of);
                          }}(e);
  if (w.gave_up) core::throw_stopped();
}

static void store(MPI_Status* into, MPI_Status const& status) noexcept {
  if (into != nullptr && into != MPI_STATUS_IGNORE) *into = status;
}

// ---- Waiting for requests.

void wait(MPI_Request& request, MPI_Status* status, on_stop then) {
  engine& e = engine::here("mpi::wait");
  std::array<one_request, 1> one{};
  one[0].request = request;
  one[0].may_cancel = then == on_stop::cancel;
  wait_for_all w;
  w.requests = one;
  wait_until_ended(e, w, "mpi::wait", then);
  request = one[0].request;
  if (!one[0].has_ended || one[0].was_cancelled) core::throw_stopped();
  store(status, one[0].status);
  if (one[0].code != MPI_SUCCESS) throw error{"MPI_Wait", one[0].code};
}

void wait_all(std::span<MPI_Request> requests, std::span<MPI_Status> statuses, on_stop then) {
  engine& e = engine::here("mpi::wait_all");
  if (!statuses.empty() && statuses.size() != requests.size()) {
    throw std::invalid_argument{"nopal: mpi::wait_all: " + std::to_string(statuses.size()) + " statuses for " +
                                std::to_string(requests.size()) + " requests; give as many, or none"};
  }
  std::vector<one_request> each(requests.size());
  for (std::size_t k = 0; k < each.size(); ++k) {
    each[k].request = requests[k];
    each[k].may_cancel = then == on_stop::cancel;
  }
  wait_for_all w;
  w.requests = each;
  wait_until_ended(e, w, "mpi::wait_all", then);
  bool is_stopped = false;
  auto const failed = std::ranges::find_if(each, [](one_request const& r) { return r.has_ended && r.code != MPI_SUCCESS; });
  for (std::size_t k = 0; k < each.size(); ++k) {
    requests[k] = each[k].request;
    is_stopped = is_stopped || !each[k].has_ended || each[k].was_cancelled;
    if (statuses.empty() || !each[k].has_ended) continue;
    statuses[k] = each[k].status;
    if (failed != each.end()) statuses[k].MPI_ERROR = each[k].code;
  }
  if (failed != each.end()) throw error{"MPI_Waitall", failed->code, static_cast<int>(failed - each.begin())};
  if (is_stopped) core::throw_stopped();
}

int wait_any(std::span<MPI_Request> requests, MPI_Status* status, on_stop then) {
  engine& e = engine::here("mpi::wait_any");
  if (then == on_stop::cancel) {
    throw std::invalid_argument{
        "nopal: mpi::wait_any: on_stop::cancel would lose the requests beside the first; write on_stop::leave, and then "
        "mpi::wait_all for all of them"};
  }
  if (requests.size() > INT_MAX) {
    throw std::invalid_argument{"nopal: mpi::wait_any: " + std::to_string(requests.size()) + " requests, and MPI counts to " +
                                std::to_string(INT_MAX) + "; wait for fewer at a time"};
  }
  struct any : wait_by_test {
    std::span<MPI_Request> all;
    int index = MPI_UNDEFINED;
    MPI_Status status{};
  } w;
  w.all = requests;
  w.test = [](wait_by_test& t) noexcept {
    auto& me = static_cast<any&>(t);
    int has_ended = 0;
    me.code = MPI_Testany(static_cast<int>(me.all.size()), me.all.data(), &me.index, &has_ended, &me.status);
    return has_ended != 0 || me.code != MPI_SUCCESS;
  };
  wait_until_ended(e, w, "mpi::wait_any", then);
  store(status, w.status);
  if (w.code != MPI_SUCCESS) throw error{"MPI_Waitany", w.code, w.index};
  return w.index;
}

void poll() noexcept {
  std::shared_ptr<engine> const e = engine::of_session();
  if (e == nullptr) return;
  looker* const here = e->source_here();
  bool told = here != nullptr && e->tell(here->mail(), here);
  if (e->has_waiters()) told = e->tell(e->look(/*in_passing=*/true), here) || told;
  if (here == nullptr) return;
  if (!e->funnelled()) core::current()->pool().events.note_look();
  if (told) nopal::yield();
}

void call_with(void (*f)(void* with), void* with) {
  engine& e = engine::here("mpi::call");
  if (!e.funnelled()) return e.here_in_turn([=] { f(with); });
  if (e.on_own_thread()) return f(with);
  struct to_call : command {
    void (*f)(void*);
    void* with;
  } c;
  c.f = f;
  c.with = with;
  c.taken = [](engine& in, command& me) noexcept {
    static_cast<to_call&>(me).f(static_cast<to_call&>(me).with);
    in.ended(me);
  };
  e.give(c);
  c.told.acquire();
}

// ---- MPI's blocking functions: begin(requests) begins them, and each is waited for.

template <std::size_t N, class Begin>
static std::array<one_request, N> wait_for_begun(char const* call, on_stop then, Begin begin) {
  engine& e = engine::here(call);
  std::array<one_request, N> some{};
  some[0].may_cancel = then == on_stop::cancel;  // the receive is the first
  wait_for_all w;
  w.requests = some;
  w.with = &begin;
  w.begin = [](void* with, std::span<one_request> requests) noexcept { return (*static_cast<Begin*>(with))(requests); };
  wait_until_ended(e, w, call, then);
  if (w.begun != MPI_SUCCESS) throw error{call, w.begun};
  for (one_request const& r : some) {
    if (r.code != MPI_SUCCESS) throw error{call, r.code};
  }
  if (some[0].was_cancelled) core::throw_stopped();
  return some;
}

template <class Begin>
static MPI_Status blocking(char const* call, on_stop then, Begin begin) {
  return wait_for_begun<1>(call, then, [&](std::span<one_request> r) { return begin(&r[0].request); })[0].status;
}
template <class Begin>
static void collective(char const* call, Begin begin) {
  static_cast<void>(blocking(call, on_stop::go_on, begin));
}

void send(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  collective("MPI_Send", [=](MPI_Request* r) { return MPI_Isend(buffer, count, type, to, tag, comm, r); });
}
void ssend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  collective("MPI_Ssend", [=](MPI_Request* r) { return MPI_Issend(buffer, count, type, to, tag, comm, r); });
}
void rsend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  collective("MPI_Rsend", [=](MPI_Request* r) { return MPI_Irsend(buffer, count, type, to, tag, comm, r); });
}
void recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  store(status, blocking("MPI_Recv", on_stop::cancel, [=](MPI_Request* r) { return MPI_Irecv(buffer, count, type, from, tag, comm, r); }));
}
void mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  store(status, blocking("MPI_Mrecv", on_stop::go_on, [=](MPI_Request* r) { return MPI_Imrecv(buffer, count, type, message, r); }));
}
void sendrecv(void const* buffer, int count, MPI_Datatype type, int to, int tag, void* into, int into_count, MPI_Datatype into_type,
              int from, int from_tag, MPI_Comm comm, MPI_Status* status) {
  auto const both = wait_for_begun<2>("MPI_Sendrecv", on_stop::cancel, [=](std::span<one_request> r) {
    int code = MPI_Irecv(into, into_count, into_type, from, from_tag, comm, &r[0].request);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Isend(buffer, count, type, to, tag, comm, &r[1].request);
    if (code != MPI_SUCCESS) {
      r[1].request = MPI_REQUEST_NULL;
      MPI_Cancel(&r[0].request);
    }
    return code;
  });
  store(status, both[0].status);
}

namespace {

struct probe_wait : wait_by_test {
  int from, tag;
  MPI_Comm comm;
  MPI_Message* message;  // null: another may receive it
  MPI_Status status{};
};

}  // namespace

static void probe_for(char const* call, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  engine& e = engine::here(call);
  probe_wait w;
  w.from = from;
  w.tag = tag;
  w.comm = comm;
  w.message = message;
  w.test = [](wait_by_test& t) noexcept {
    auto& me = static_cast<probe_wait&>(t);
    int is_there = 0;
    me.code = me.message != nullptr ? MPI_Improbe(me.from, me.tag, me.comm, &is_there, me.message, &me.status)
                                    : MPI_Iprobe(me.from, me.tag, me.comm, &is_there, &me.status);
    return is_there != 0 || me.code != MPI_SUCCESS;
  };
  wait_until_ended(e, w, call, on_stop::leave);
  if (w.code != MPI_SUCCESS) throw error{call, w.code};
  store(status, w.status);
}
void probe(int from, int tag, MPI_Comm comm, MPI_Status* status) { probe_for("MPI_Probe", from, tag, comm, nullptr, status); }
void mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  probe_for("MPI_Mprobe", from, tag, comm, message, status);
}

void barrier(MPI_Comm comm) {
  collective("MPI_Barrier", [=](MPI_Request* r) { return MPI_Ibarrier(comm, r); });
}
void bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  collective("MPI_Bcast", [=](MPI_Request* r) { return MPI_Ibcast(buffer, count, type, root, comm, r); });
}
void reduce(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  collective("MPI_Reduce", [=](MPI_Request* r) { return MPI_Ireduce(buffer, into, count, type, op, root, comm, r); });
}
void allreduce(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  collective("MPI_Allreduce", [=](MPI_Request* r) { return MPI_Iallreduce(buffer, into, count, type, op, comm, r); });
}
void reduce_scatter(void const* buffer, void* into, int const counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  collective("MPI_Reduce_scatter", [=](MPI_Request* r) { return MPI_Ireduce_scatter(buffer, into, counts, type, op, comm, r); });
}
void reduce_scatter_block(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  collective("MPI_Reduce_scatter_block", [=](MPI_Request* r) { return MPI_Ireduce_scatter_block(buffer, into, count, type, op, comm, r); });
}
void scan(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  collective("MPI_Scan", [=](MPI_Request* r) { return MPI_Iscan(buffer, into, count, type, op, comm, r); });
}
void exscan(void const* buffer, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  collective("MPI_Exscan", [=](MPI_Request* r) { return MPI_Iexscan(buffer, into, count, type, op, comm, r); });
}
void gather(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, int root, MPI_Comm comm) {
  collective("MPI_Gather", [=](MPI_Request* r) { return MPI_Igather(buffer, count, type, into, into_count, into_type, root, comm, r); });
}
void gatherv(void const* buffer, int count, MPI_Datatype type, void* into, int const into_counts[], int const displacements[],
             MPI_Datatype into_type, int root, MPI_Comm comm) {
  collective("MPI_Gatherv",
             [=](MPI_Request* r) { return MPI_Igatherv(buffer, count, type, into, into_counts, displacements, into_type, root, comm, r); });
}
void scatter(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, int root,
             MPI_Comm comm) {
  collective("MPI_Scatter", [=](MPI_Request* r) { return MPI_Iscatter(buffer, count, type, into, into_count, into_type, root, comm, r); });
}
void scatterv(void const* buffer, int const counts[], int const displacements[], MPI_Datatype type, void* into, int into_count,
              MPI_Datatype into_type, int root, MPI_Comm comm) {
  collective("MPI_Scatterv", [=](MPI_Request* r) {
    return MPI_Iscatterv(buffer, counts, displacements, type, into, into_count, into_type, root, comm, r);
  });
}
void allgather(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, MPI_Comm comm) {
  collective("MPI_Allgather", [=](MPI_Request* r) { return MPI_Iallgather(buffer, count, type, into, into_count, into_type, comm, r); });
}
void allgatherv(void const* buffer, int count, MPI_Datatype type, void* into, int const into_counts[], int const displacements[],
                MPI_Datatype into_type, MPI_Comm comm) {
  collective("MPI_Allgatherv",
             [=](MPI_Request* r) { return MPI_Iallgatherv(buffer, count, type, into, into_counts, displacements, into_type, comm, r); });
}
void alltoall(void const* buffer, int count, MPI_Datatype type, void* into, int into_count, MPI_Datatype into_type, MPI_Comm comm) {
  collective("MPI_Alltoall", [=](MPI_Request* r) { return MPI_Ialltoall(buffer, count, type, into, into_count, into_type, comm, r); });
}
void alltoallv(void const* buffer, int const counts[], int const displacements[], MPI_Datatype type, void* into, int const into_counts[],
               int const into_displacements[], MPI_Datatype into_type, MPI_Comm comm) {
  collective("MPI_Alltoallv", [=](MPI_Request* r) {
    return MPI_Ialltoallv(buffer, counts, displacements, type, into, into_counts, into_displacements, into_type, comm, r);
  });
}

}  // namespace nopal::mpi
