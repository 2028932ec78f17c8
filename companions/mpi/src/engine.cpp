#include "engine.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::mpi {

// ---- The session.

static constexpr std::int64_t for_ever = -1, millisecond = 1'000'000;  // nanoseconds
static constexpr std::int64_t first_nap = 2'000, longest_nap = 100'000;
static constexpr std::int64_t keeps_looking = 20'000;  // before it naps
static constexpr std::int64_t a_while = 100'000;       // between looks in passing

namespace {

std::mutex session_mutex;                // nobody calls MPI or waits while holding it
std::shared_ptr<engine> session_engine;  // under the mutex
bool session_begins = false;             // under the mutex: the constructor of a session is at work
// As session_engine, for callers, whose session outlives their calls; null: none. release and acquire, wherever it is used, pair with each
// other, for what start has made.
std::atomic<engine*> current{nullptr};
std::terminate_handler terminates_otherwise = nullptr;
constinit bool session_is_of_parent = false;  // written by the only thread of a new child, under the mutex

// What the child of a fork has of its parent's session stays as it is for ever: the engine's thread is not there, so nothing could end it.
void leave_to_parent() noexcept {
  alignas(std::shared_ptr<engine>) static constinit std::array<std::byte, sizeof(std::shared_ptr<engine>)> never_destroyed{};
  ::new (static_cast<void*>(never_destroyed.data())) std::shared_ptr<engine>{session_engine};
  session_is_of_parent = true;
  current.store(nullptr, std::memory_order_relaxed);  // relaxed: there is no other thread
}

// New pools ask for the session: so another thread may have the lock at any time.
constinit core::fork_hook at_fork{[]() noexcept { session_mutex.lock(); },
                                  [](bool in_child) noexcept {
                                    if (in_child && (session_engine != nullptr || session_begins)) leave_to_parent();
                                    session_mutex.unlock();
                                  }};
[[gnu::constructor]] void hold_session_at_fork() noexcept { core::call_at_fork(at_fork); }

// There is one session at a time: the constructor of another is refused while this lives.
class claim {
 public:
  claim() {
    engine::check_process("mpi::session");
    std::lock_guard const guard{session_mutex};
    if (session_engine != nullptr || session_begins) {
      throw std::logic_error{"nopal: mpi::session: there is a session already, and a process has one at a time; use that one"};
    }
    session_begins = true;
  }
  claim(claim const&) = delete;
  claim& operator=(claim const&) = delete;
  ~claim() {
    std::lock_guard const guard{session_mutex};
    session_begins = false;
  }
  // The session has begun.
  void is_of(std::shared_ptr<engine> const& e) noexcept {
    std::lock_guard const guard{session_mutex};
    session_engine = e;
    current.store(e.get(), std::memory_order_release);  // pairs with here
  }
};

[[noreturn]] void terminates() {
  engine* const e = engine::here_or_null();
  std::array<char, 512> text{};
  std::exception_ptr const x = std::current_exception();
  std::snprintf(text.data(), text.size(), "is terminated: %s", x != nullptr ? core::message_of(x) : "std::terminate was called");
  if (e != nullptr) e->abort(text.data());
  if (terminates_otherwise != nullptr) terminates_otherwise();
  std::abort();
}

}  // namespace

engine* engine::here_or_null() noexcept { return current.load(std::memory_order_acquire); }  // pairs with claim::is_of

bool engine::is_of_parent() noexcept { return session_is_of_parent; }

void engine::check_process(char const* call) {
  if (!session_is_of_parent) return;
  throw std::logic_error{std::string{"nopal: "} + call +
                         " was called in the child of a fork, and MPI is its parent's; call it there, or begin another program by exec"};
}

engine& engine::here(char const* call) {
  engine* const e = here_or_null();
  if (e == nullptr) {
    check_process(call);
    throw std::logic_error{
        std::string{"nopal: "} + call +
        " needs a session, and there is none; begin main with nopal::mpi::session s{argc, argv}, and let it outlive the pools"};
  }
  return *e;
}

std::shared_ptr<engine> engine::of_session() noexcept { return session_is_of_parent ? nullptr : of_session_or_parent(); }
std::shared_ptr<engine> engine::of_session_or_parent() noexcept {
  std::lock_guard const guard{session_mutex};
  return session_engine;
}

static void check_may_start(bool attaches) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  std::string const s = "nopal: mpi::session: ";
  if (finalised != 0)
    throw std::logic_error{
        s + "MPI was finalised, by the end of a session or by MPI_Finalize, and cannot begin again; keep one session until main ends"};
  if (attaches && initialised == 0)
    throw std::logic_error{s + "MPI was not initialised, so there is nothing to attach to; write session s{argc, argv}"};
  if (!attaches && initialised != 0) {
    throw std::logic_error{s + "MPI was initialised before; write session s{session::attach{}}, or leave MPI_Init to the session"};
  }
}

// The caller may wait for the thread as a strand does, which leaves its stack and may continue on another thread: so it holds no lock.
void engine::start(int* argc, char*** argv, session_options const& o) {
  claim mine;
  check_may_start(argc == nullptr);
  if (std::array const known{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
      std::ranges::find(known, o.threads) == known.end()) {
    throw std::invalid_argument{"nopal: mpi::session_options::threads = " + std::to_string(o.threads) +
                                " is no thread level; write MPI_THREAD_MULTIPLE, _SERIALIZED, _FUNNELED or _SINGLE"};
  }
  if (argc == nullptr) {
    int given = MPI_THREAD_SINGLE;
    MPI_Query_thread(&given);
    if (given < MPI_THREAD_SERIALIZED) {
      throw std::logic_error{
          "nopal: mpi::session cannot attach to an MPI that was initialised with less than MPI_THREAD_SERIALIZED, since only the thread "
          "that did "
          "so may call it; call MPI_Init_thread with MPI_THREAD_MULTIPLE, or leave it to the session"};
    }
  }
  auto e = std::make_shared<engine>();
  e->serves_pools_ = o.serve_pools;
  e->peers_.open();
  int code = MPI_SUCCESS;
  semaphore is_ready{0};
  e->thread_ = std::thread{[&, e = e.get()] {
    e->id_ = std::this_thread::get_id();
    ::pthread_setname_np(::pthread_self(), "nopal-mpi");
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);        // the program's handlers run on its own threads
    ::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // short naps are short
    code = e->initialise(argc, argv, o.threads);
    bool const begun = code == MPI_SUCCESS;
    is_ready.release();  // the last access to what is not the engine's
    if (begun) e->serve();
  }};
  is_ready.acquire();
  if (code != MPI_SUCCESS) {
    e->thread_.join();
    throw error{"MPI_Init_thread", code};
  }
  mine.is_of(e);
  terminates_otherwise = std::set_terminate(terminates);
}

void engine::end() noexcept {
  std::shared_ptr<engine> const e = of_session();
  e->ending_.store(true, std::memory_order_seq_cst);
  e->peers_.wake();
  e->thread_.join();
  if (std::get_terminate() == terminates) std::set_terminate(terminates_otherwise);
  current.store(nullptr, std::memory_order_release);  // as in claim
  std::lock_guard const guard{session_mutex};
  session_engine = nullptr;
}

// mpiexec may end before it has passed on what a rank has written: so the ranks live until it has read it, for half a second at most.
static void let_be_read() noexcept {
  std::fflush(stderr);
  for (int k = 0, left = 1; k < 40 && left > 0; ++k) {
    if (::ioctl(STDERR_FILENO, FIONREAD, &left) != 0) left = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
}

void engine::abort(char const* what) noexcept {
  std::fprintf(stderr, "nopal::mpi: rank %d of %d (process %d) %s; all ranks end\n", rank_, size_, static_cast<int>(::getpid()), what);
  let_be_read();
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

// ---- The session's thread.

int engine::initialise(int* argc, char*** argv, int asked) {
  if (argc != nullptr) {
    if (int const code = MPI_Init_thread(argc, argv, asked, &threads_); code != MPI_SUCCESS) return code;
    threads_ = std::min(threads_, asked);
    finalises_ = true;
  } else {
    MPI_Query_thread(&threads_);
  }
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_world_);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before_self_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (int const code = MPI_Comm_dup(MPI_COMM_WORLD, &own_); code != MPI_SUCCESS) return code;
  return peers_.find(own_);
}

// True: somebody waits for whom nobody else looks. seq_cst: README.md, "Why no request is lost".
bool engine::is_needed() const noexcept { return unserved_.load(std::memory_order_seq_cst) != 0; }

void engine::serve() noexcept {
  using clock = std::chrono::steady_clock;
  std::int64_t nap = first_nap;
  auto looks_until = clock::now();
  while (!ending_.load(std::memory_order_seq_cst)) {
    if (auto const* const p = peers_.dead(); p != nullptr) die_with(*p);
    bool const rests = !is_needed();
    if (rests) sleep_until_needed();
    command* const some = look();
    if (some != nullptr || rests) {
      tell(some, nullptr);
      nap = first_nap;
      looks_until = clock::now() + std::chrono::nanoseconds{keeps_looking};
    } else if (clock::now() < looks_until) {
      std::this_thread::yield();
    } else {
      peers_.sleep(nap);
      nap = std::min(nap * 2, longest_nap);
    }
  }
  finish();
}

void engine::sleep_until_needed() noexcept {
  sleeps_.store(true, std::memory_order_seq_cst);
  if (!is_needed() && !ending_.load(std::memory_order_seq_cst)) peers_.sleep(for_ever);
  sleeps_.store(false, std::memory_order_seq_cst);
}

void engine::die_with(peers::peer const& p) noexcept {
  std::fprintf(stderr, "nopal::mpi: rank %d of %d (process %d) has died; rank %d ends all ranks\n", p.rank, size_,
               static_cast<int>(p.process), rank_);
  let_be_read();
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

// A rank that has passed the barrier may end, and the others then see its process end: so they look for the barrier first, and wait for it a
// while longer.
void engine::finish() noexcept {
  using clock = std::chrono::steady_clock;
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) core::die("MPI_Finalize was called before the end of the session that is attached to it; end the session first");
  MPI_Request all = MPI_REQUEST_NULL;
  int are_here = 0;
  std::int64_t nap = first_nap;
  clock::time_point patience{};
  MPI_Ibarrier(own_, &all);
  while (MPI_Test(&all, &are_here, MPI_STATUS_IGNORE) == MPI_SUCCESS && are_here == 0) {
    if (auto const* const p = peers_.dead(); p != nullptr) {
      if (patience == clock::time_point{}) patience = clock::now() + std::chrono::seconds{5};
      if (clock::now() > patience) die_with(*p);
    }
    peers_.sleep(nap);
    nap = std::min(nap * 2, millisecond);
  }
  {
    std::lock_guard const nobody_looks{looks_};
    closed_ = true;
  }
  MPI_Comm_free(&own_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_world_);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before_self_);
  MPI_Errhandler_free(&before_world_);
  MPI_Errhandler_free(&before_self_);
  if (finalises_) MPI_Finalize();
}

// ---- Giving.

looker* engine::source_here() const noexcept {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) return nullptr;
  auto* const s = dynamic_cast<looker*>(w->pool().events.source());
  return s != nullptr && s->is_of(*this) ? s : nullptr;
}

// README.md, "Why no request is lost": the counts first, then the command, then the reads of who sleeps.
void engine::give(command& c) noexcept {
  c.of = source_here();
  bool const served = c.of != nullptr && !funnelled();  // once it is in the list, `c` is another thread's
  c.by_session = !served;
  bool const first = waiters_.fetch_add(1, std::memory_order_seq_cst) == 0;
  if (!served) unserved_.fetch_add(1, std::memory_order_seq_cst);
  c.next = commands_.load(std::memory_order_relaxed);  // relaxed, here and where the exchange fails: the pointer is stored, not followed
  // release: pairs with the exchange in take_commands, for the command and what it waits for
  while (!commands_.compare_exchange_weak(c.next, &c, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (!served && sleeps_.exchange(false, std::memory_order_seq_cst)) peers_.wake();
  if (first && deep_sources_.load(std::memory_order_seq_cst) != 0) wake_sources();
}

void engine::wake_sources() noexcept {
  std::lock_guard const guard{sources_mutex_};
  for (looker* const s : sources_) {
    if (s->sleeps_deeply()) s->wake();
  }
}

void engine::enter(looker& s) {
  std::lock_guard const guard{sources_mutex_};
  sources_.push_back(&s);
}
void engine::leave(looker& s) noexcept {
  if (is_of_parent()) return;  // the lock may be taken for ever
  std::lock_guard const guard{sources_mutex_};
  std::erase(sources_, &s);
}

// ---- Looking.

command* engine::look(bool in_passing) noexcept {
  if (funnelled() && !on_own_thread()) return nullptr;
  std::unique_lock const looking{looks_, std::try_to_lock};
  if (!looking || closed_) return nullptr;
  std::unique_lock<std::mutex> turn{turn_, std::defer_lock};
  if (threads_ == MPI_THREAD_SERIALIZED && !turn.try_lock()) return nullptr;
  int const times = in_passing && !is_first_for_a_while() ? 1 : 2;
  take_commands();
  test_requests(times);
  test_others(times);
  return std::exchange(ended_, nullptr);
}

// True: nobody has looked in passing for some time.
bool engine::is_first_for_a_while() noexcept {
  using clock = std::chrono::steady_clock;
  auto const now = clock::now();
  return now - std::exchange(looked_in_passing_, now) > std::chrono::nanoseconds{a_while};
}

// A worker of another pool, or this thread, could only put the strand into an inbox of that pool, into which no worker need look while all
// are busy; that pool's timer interrupts one. The lock keeps the source, whose pool may end once it has the mail.
bool engine::tell(command* ended, looker const* by) noexcept {
  bool told_here = false;
  while (ended != nullptr) {
    command& c = *ended;
    ended = c.next;  // read before its giver may go on
    if (c.of == nullptr || c.of == by) {
      told_here = true;
      c.told.release();
      continue;
    }
    std::lock_guard const guard{sources_mutex_};
    c.of->bring(c);
  }
  return told_here;
}

void engine::ended(command& c) noexcept {
  c.next = ended_;
  ended_ = &c;
  if (c.by_session) unserved_.fetch_sub(1, std::memory_order_seq_cst);
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

// In the order in which they were given.
void engine::take_commands() noexcept {
  // relaxed: a hint. acquire: pairs with give.
  if (commands_.load(std::memory_order_relaxed) == nullptr) return;
  command* newest = commands_.exchange(nullptr, std::memory_order_acquire);
  command* oldest = nullptr;
  while (newest != nullptr) {
    command* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    command& c = *oldest;
    oldest = c.next;
    c.taken(*this, c);
  }
}

bool engine::begin(wait_for_all& w) noexcept {
  if (w.begin != nullptr) w.begun = std::exchange(w.begin, nullptr)(w.with, w.requests);
  w.left = 0;
  for (one_request& r : w.requests) {
    int has_ended = 0;
    r.code = MPI_Test(&r.request, &has_ended, &r.status);
    r.has_ended = has_ended != 0 || r.code != MPI_SUCCESS;
    if (!r.has_ended) ++w.left;
  }
  return w.left == 0;
}

[[noreturn]] static void die_for_memory() noexcept {
  core::die("no memory for the requests that are waited for; wait for fewer at a time");
}

void engine::add(wait_for_all& w) noexcept try {
  for (std::size_t k = 0; k < w.requests.size(); ++k) {
    if (w.requests[k].has_ended) continue;
    requests_.push_back(w.requests[k].request);
    owners_.push_back({&w, k});
  }
  if (indices_.size() < requests_.size()) {
    indices_.resize(requests_.capacity());
    statuses_.resize(requests_.capacity());
    order_.resize(requests_.capacity());
  }
} catch (std::bad_alloc const&) {
  die_for_memory();
}

void engine::add(wait_by_test& w) noexcept try {
  others_.push_back(&w);
  w.is_tested = true;
} catch (std::bad_alloc const&) {
  die_for_memory();
}

void engine::remove(wait_for_all& w) noexcept {
  for (std::size_t slot = owners_.size(); slot-- > 0;) {
    if (owners_[slot].wait == &w) forget(slot);
  }
  ended(w);
}

void engine::remove(wait_by_test& w) noexcept {
  std::erase(others_, &w);
  w.is_tested = false;
  ended(w);
}

void engine::forget(std::size_t slot) noexcept {
  requests_[slot] = requests_.back();
  owners_[slot] = owners_.back();
  requests_.pop_back();
  owners_.pop_back();
}

void engine::has_ended(std::size_t slot, int code, MPI_Status const& status) noexcept {
  auto const [wait, which] = owners_[slot];
  one_request& r = wait->requests[which];
  r.request = requests_[slot];  // null, or persistent
  r.status = status;
  r.code = code;
  r.has_ended = true;
  if (int was = 0; r.asked_to_end && MPI_Test_cancelled(&status, &was) == MPI_SUCCESS) r.was_cancelled = was != 0;
  forget(slot);
  if (--wait->left == 0) ended(*wait);
}

// From the last slot on, since forget puts the last into the place of another.
void engine::take_ended(std::size_t n, bool some_failed) noexcept {
  auto const order = std::span{order_}.first(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater<>{}, [this](std::size_t k) { return indices_[k]; });
  for (std::size_t const k : order) {
    has_ended(static_cast<std::size_t>(indices_[k]), some_failed ? statuses_[k].MPI_ERROR : MPI_SUCCESS, statuses_[k]);
  }
}

// Libraries deliver at the first call what they return at the second: Open MPI does, and both do where they probe. So whoever looks, looks
// twice; but who looks in passing, and looks again soon, does so then.
void engine::test_requests(int times) noexcept {
  for (int k = 0; k < times && !requests_.empty(); ++k) {
    int n = 0;
    int const code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &n, indices_.data(), statuses_.data());
    if ((code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) || n == MPI_UNDEFINED) return test_each();
    if (n == 0) continue;
    take_ended(static_cast<std::size_t>(n), code != MPI_SUCCESS);
    return;
  }
}

// The library has refused to test them together.
void engine::test_each() noexcept {
  for (std::size_t slot = requests_.size(); slot-- > 0;) {
    int has = 0;
    MPI_Status status{};
    int const code = MPI_Test(&requests_[slot], &has, &status);
    if (has != 0 || code != MPI_SUCCESS) has_ended(slot, code, status);
  }
}

void engine::test_others(int times) noexcept {
  bool found = false;
  for (; times > 0 && !found; --times) {
    for (std::size_t k = others_.size(); k-- > 0;) {
      wait_by_test& w = *others_[k];
      if (!w.test(w)) continue;
      found = true;
      others_[k] = others_.back();
      others_.pop_back();
      w.is_tested = false;
      ended(w);
    }
  }
}

// ---- The source of a pool.

void source::poll() noexcept {
  engine_->tell(std::exchange(found_, nullptr), this);
  engine_->tell(mail(), this);
  if (engine_->has_waiters()) engine_->tell(engine_->look(), this);
}

void source::wait() noexcept {
  // acquire: pairs with wake, for what the waker has brought
  for (std::int64_t nap = first_nap; woken_.exchange(0, std::memory_order_acquire) == 0;) {
    if (engine_->funnelled()) {  // the session's thread looks, and brings mail
      sleep(for_ever);
      continue;
    }
    if (!engine_->has_waiters()) {
      engine_->sleeps_deeply();
      deep_.store(true, std::memory_order_seq_cst);
      if (!engine_->has_waiters()) sleep(for_ever);
      deep_.store(false, std::memory_order_seq_cst);
      engine_->got_up();
      nap = first_nap;
      continue;
    }
    found_ = engine_->look();
    if (found_ != nullptr) return;
    sleep(nap);
    nap = std::min(nap * 2, longest_nap);
  }
}

// release: pairs with the exchange in wait.
void source::wake() noexcept {
  woken_.store(1, std::memory_order_release);
  ::syscall(SYS_futex, &woken_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void source::sleep(std::int64_t nanoseconds) noexcept {
  timespec const t{.tv_sec = 0, .tv_nsec = static_cast<long>(nanoseconds)};
  ::syscall(SYS_futex, &woken_, FUTEX_WAIT_PRIVATE, 0, nanoseconds == for_ever ? nullptr : &t, nullptr, 0);
}

}  // namespace nopal::mpi
