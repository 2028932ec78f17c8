// Unbalanced tree search over ranks: each rank walks what it has, and gives nodes to ranks that have none and ask. The numbers of nodes and leaves
// must be the published ones. The end is detected as by Dijkstra and Scholten: who gets work while it has none, and owes nothing, owes its giver
// an answer, which it gives when it has no work and all that it gave was answered. Rank 0, which has the root, knows so when all is done.
//
// nopal: a task for each node on the rank's pool, which steals inside; a fiber receives what the others ask and give.
// plain, openmp: each thread has a stack of nodes, and the first one looks for messages (MPI_Iprobe) now and then.
// A leaf is counted where it is found: it is no task, and comes neither onto a stack nor into a message. So whatever is walked has children; the
// roots have.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"
#include "uts_tree.hpp"

namespace {

using bench::node;
using nodes = std::vector<node>;

enum tag : int { asks, has_none, gives, answers, all_done, quit };

constexpr std::size_t batch = 32;           // nodes in a message, at most
constexpr std::size_t between_looks = 256;  // nodes

// What a rank knows of the others. `send(to, tag, nodes)` does not wait. Under `mutex` where several threads call.
template <class Send>
class balance {
 public:
  balance(int rank, int ranks, Send send) : rank_{rank}, ranks_{ranks}, owes_{rank == 0}, send_{std::move(send)} {}

  std::mutex mutex;
  std::atomic<bool> wanted{false};  // a rank has asked

  // A message has come. Returns true if who waits for work must look.
  bool received(int from, int tag, nodes work) {
    switch (tag) {
      case asks:
        if (done_) {
          send_(from, has_none, {});
        } else {
          wait_.push_back(from);
          wanted = active_;
        }
        return false;
      case has_none: asked_ = false; return true;
      case gives:
        asked_ = false;
        if (owes_) {
          send_(from, answers, {});
        } else {
          owes_ = true;
          giver_ = from;
        }
        begins_with(std::move(work));
        return true;
      case answers:
        --unanswered_;
        settle();
        return done_;
      case all_done: end(); return true;
      default: throw std::logic_error{"a message that nobody sends"};
    }
  }
  // This rank has work: the root, or what another has given.
  void begins_with(nodes work) {
    inbox_ = std::move(work);
    active_ = true;
    wanted = !wait_.empty();
  }
  nodes take_inbox() { return std::exchange(inbox_, {}); }
  // Gives work to one that has asked. `wanted` holds.
  void give(nodes work) {
    ++unanswered_;
    send_(wait_.front(), gives, std::move(work));
    wait_.pop_front();
    wanted = !wait_.empty();
  }
  // There is no work here any more. Who has asked waits until there is some, or until the end.
  void is_idle() {
    active_ = false;
    wanted = false;
    settle();
  }
  // Asks the next rank, unless it has asked already, or has work that nobody has begun. Always the same one: so whoever has work is asked, if the
  // rank before it has none.
  void ask() {
    if (asked_ || done_ || has_inbox() || ranks_ == 1) return;
    asked_ = true;
    send_((rank_ + 1) % ranks_, asks, {});
  }
  bool has_inbox() const { return !inbox_.empty(); }
  bool is_done() const { return done_; }
  bool awaits_reply() const { return asked_; }

 private:
  void settle() {
    if (active_ || !owes_ || unanswered_ != 0 || done_) return;
    owes_ = false;
    if (rank_ != 0) {
      send_(giver_, answers, {});
      return;
    }
    for (int r = 1; r < ranks_; ++r) send_(r, all_done, {});
    end();
  }
  void end() {
    done_ = true;
    for (int const r : std::exchange(wait_, {})) send_(r, has_none, {});
  }

  int const rank_, ranks_;
  bool owes_;
  Send send_;
  int giver_ = -1;
  long unanswered_ = 0;
  bool active_ = false, asked_ = false, done_ = false;
  std::deque<int> wait_;  // ranks that have asked
  nodes inbox_;
};

// What was counted, by worker.
struct alignas(64) counts {
  bench::extent found;
  std::size_t since_look = 0;
};

#if defined(NOPAL_DISTRIBUTED_NOPAL)

class search {
 public:
  search(bench::tree const& tree, int rank, int ranks, unsigned workers)
      : counted(workers), tree_{tree}, rank_{rank}, others_{rank, ranks, later{*this}} {}

  void run() {
    nopal::counter server;
    nopal::spawn(server, [this] { serve(); });
    nopal::yield();  // it waits for messages from here on: on one worker it would begin only when there is no work
    if (rank_ == 0) others_.begins_with({tree_.root()});
    for (bool done = false; !done;) {
      nodes work;
      {
        std::lock_guard const lock{others_.mutex};
        work = others_.take_inbox();
      }
      if (!work.empty()) walk_all(work);
      std::unique_lock lock{others_.mutex};
      if (!bag_.empty()) {
        // Those who asked have not got a whole batch: they get half, and this rank has the rest.
        nodes rest = std::exchange(bag_, {});
        if (others_.wanted && rest.size() > 1) {
          auto const half = rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2);
          others_.give({half, rest.end()});
          rest.erase(half, rest.end());
        }
        lock.unlock();
        nopal::yield();  // the fiber that sends is first
        walk_all(rest);
        continue;
      }
      if (!others_.has_inbox()) others_.is_idle();
      while (!others_.has_inbox() && !(others_.is_done() && !others_.awaits_reply())) {
        others_.ask();
        lock.unlock();
        news_.acquire();
        lock.lock();
      }
      done = others_.is_done() && !others_.has_inbox();
    }
    nopal::mpi::barrier(MPI_COMM_WORLD);  // nobody awaits a reply any more
    char const nothing = 0;
    nopal::mpi::send(&nothing, 0, MPI_BYTE, rank_, quit, MPI_COMM_WORLD);
    nopal::wait_for(server);
    nopal::wait_for(sent_);
  }

  std::vector<counts> counted;

 private:
  struct later {  // sends by a fiber of its own
    search& s;
    void operator()(int to, int tag, nodes work) const {
      nopal::spawn(s.sent_, [to, tag, work = std::move(work)] {
        nopal::mpi::send(work.data(), static_cast<int>(work.size() * sizeof(node)), MPI_BYTE, to, tag, MPI_COMM_WORLD);
      });
    }
  };
  void serve() {
    while (true) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      nopal::mpi::mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      nodes work(static_cast<std::size_t>(bytes) / sizeof(node));
      int const tag = status.MPI_TAG;
      int const from = status.MPI_SOURCE;
      nopal::mpi::mrecv(work.data(), bytes, MPI_BYTE, &message);
      if (tag == quit) return;
      bool look = false;
      {
        std::lock_guard const lock{others_.mutex};
        look = others_.received(from, tag, std::move(work));
      }
      if (look) news_.release();
    }
  }

  void walk_all(nodes const& from) {
    if (from.size() > 1) {  // more is under way when these are walked
      std::lock_guard const lock{others_.mutex};
      others_.ask();
    }
    nopal::parallel_for(std::size_t{0}, from.size(), [&](std::size_t i) { nopal::sync_wait(walk, *this, from[i]); });
  }
  static nopal::task<void> walk(search& s, node at) {
    std::size_t const children = s.tree_.children_of(at);
    std::size_t leaves = 0;
    for (std::size_t i = 0; i < children; ++i) {
      node const child = at.child(i);
      if (s.tree_.children_of(child) == 0) {
        ++leaves;
        continue;
      }
      if (i > 0 && s.others_.wanted && s.gave(child)) continue;  // the first one stays, so that this rank has work too
      if (i + 1 < children) {
        co_await nopal::fork(walk, s, child);
      } else {
        co_await nopal::call(walk, s, child);
      }
    }
    s.visited(at, leaves);
    co_await nopal::join;
  }
  // The node, and those of its children that are leaves.
  void visited(node const& at, std::size_t leaves) {
    counts& mine = counted[nopal::this_worker::index()];
    mine.found.add(bench::extent::inner(at));
    if (leaves > 0) mine.found.add({at.height + 1, static_cast<long>(leaves), static_cast<long>(leaves)});
    if ((mine.since_look += 1 + leaves) < between_looks) return;
    mine.since_look = 0;
    nopal::mpi::poll();  // what has come goes first: on one worker nobody else would look
  }
  // True: another rank walks the child.
  bool gave(node const& child) {
    if (tree_.kind == bench::tree::shape::geometric && child.height + 3 > tree_.depth) return false;  // not worth a message
    {
      std::lock_guard const lock{others_.mutex};
      if (!others_.wanted) return false;
      bag_.push_back(child);
      if (bag_.size() < batch) return true;
      others_.give(std::exchange(bag_, {}));
    }
    nopal::yield();  // the fiber that sends is first
    return true;
  }

  bench::tree const& tree_;
  int const rank_;
  nopal::counter sent_;
  nopal::semaphore news_{0};
  balance<later> others_;
  nodes bag_;
};

#else

class search {
 public:
  search(bench::tree const& tree, int rank, int ranks, unsigned workers)
      : counted(workers), tree_{tree}, others_{rank, ranks, now_or_later{*this}} {
    if (rank == 0) others_.begins_with({tree.root()});
  }
  void run() {
    while (!(others_.is_done() && !others_.awaits_reply())) {
      if (others_.has_inbox()) {
        shared_ = others_.take_inbox();
        walk_all();
        others_.is_idle();
      } else {
        others_.ask();
        look();
      }
    }
    MPI_Request barrier = MPI_REQUEST_NULL;  // when all are here, nobody awaits a reply any more
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (int all = 0; all == 0;) {
      look();
      MPI_Test(&barrier, &all, MPI_STATUS_IGNORE);
    }
    for (auto& s : sent_) MPI_Wait(&s->request, MPI_STATUS_IGNORE);
  }

  std::vector<counts> counted;

 private:
  struct message {
    nodes work;
    MPI_Request request;
  };
  struct now_or_later {
    search& s;
    void operator()(int to, int tag, nodes work) const {
      while (!s.sent_.empty()) {
        int done = 0;
        MPI_Test(&s.sent_.front()->request, &done, MPI_STATUS_IGNORE);
        if (done == 0) break;
        s.sent_.pop_front();
      }
      s.sent_.push_back(std::unique_ptr<message>{new message{std::move(work), MPI_REQUEST_NULL}});
      message& m = *s.sent_.back();
      MPI_Isend(m.work.data(), static_cast<int>(m.work.size() * sizeof(node)), MPI_BYTE, to, tag, MPI_COMM_WORLD, &m.request);
    }
  };

  // By the thread that has initialised MPI.
  void look() {
    while (true) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
      if (there == 0) return;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      nodes work(static_cast<std::size_t>(bytes) / sizeof(node));
      MPI_Recv(work.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      others_.received(status.MPI_SOURCE, status.MPI_TAG, std::move(work));
    }
  }

  // All threads walk `shared_`, and take from each other by it.
  void walk_all() {
    active_ = static_cast<int>(counted.size());
#if defined(NOPAL_DISTRIBUTED_OPENMP)
#pragma omp parallel
#endif
    walk_thread(distributed::this_worker());
  }
  void walk_thread(unsigned me) {
    nodes mine;
    counts& counted_here = counted[me];
    while (refill(mine, me)) {
      while (!mine.empty()) {
        node const at = mine.back();
        mine.pop_back();
        std::size_t const children = tree_.children_of(at);
        counted_here.found.add(bench::extent::inner(at));
        ++counted_here.since_look;
        for (std::size_t i = 0; i < children; ++i) {
          node const child = at.child(i);
          if (tree_.children_of(child) > 0) {
            mine.push_back(child);
            continue;
          }
          counted_here.found.add(bench::extent::leaf(child));
          ++counted_here.since_look;
        }
        if (counted_here.since_look < between_looks) continue;
        counted_here.since_look = 0;
        share(mine);
        if (me == 0) answer(mine);
      }
    }
  }
  // The oldest half, of which each node has the largest subtree, as far as one can know.
  static nodes oldest_of(nodes& from, std::size_t most) {
    auto const n = static_cast<std::ptrdiff_t>(std::min(most, from.size() / 2));
    nodes old{from.begin(), from.begin() + n};
    from.erase(from.begin(), from.begin() + n);
    return old;
  }
  void share(nodes& mine) {
    if (counted.size() == 1 || mine.size() < 2) return;
    std::lock_guard const lock{others_.mutex};
    if (!shared_.empty()) return;
    nodes const old = oldest_of(mine, batch);
    shared_.insert(shared_.end(), old.begin(), old.end());
  }
  void answer(nodes& mine) {
    look();
    while (others_.wanted) {
      nodes old = oldest_of(mine, batch);
      if (old.empty()) return;
      others_.give(std::move(old));
    }
  }
  // False: all threads have none.
  bool refill(nodes& mine, unsigned me) {
    bool waits = false;
    while (true) {
      {
        std::lock_guard const lock{others_.mutex};
        if (!shared_.empty()) {
          if (waits) ++active_;
          std::size_t const n = std::max<std::size_t>(1, shared_.size() / counted.size());
          mine.assign(shared_.end() - static_cast<std::ptrdiff_t>(n), shared_.end());
          shared_.resize(shared_.size() - n);
          return true;
        }
        if (!std::exchange(waits, true)) --active_;
        if (active_ == 0) return false;
      }
      if (me == 0) look();
    }
  }

  bench::tree const& tree_;
  std::deque<std::unique_ptr<message>> sent_;
  balance<now_or_later> others_;
  nodes shared_;
  int active_ = 0;
};

#endif

}  // namespace

int main(int argc, char** argv) {
  // --tree 0: T1S, 1: T1, 2: T3S, 3: T3
  distributed::options const o{{{"tree", 1}, {"workers", 1}}, argc, argv};
  constexpr std::array names{"T1S", "T1", "T3S", "T3"};
  auto const workers = static_cast<unsigned>(o["workers"]);
  if (static_cast<std::size_t>(o["tree"]) >= names.size() || workers < 1)
    throw std::invalid_argument{"--tree is 0 (T1S), 1 (T1), 2 (T3S) or 3 (T3); --workers at least 1"};
  bench::tree const& tree = bench::tree_named(names[static_cast<std::size_t>(o["tree"])]);
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  nopal::mpi::session session{argc, argv};
  nopal::pool pool{{.workers = workers, .stack_size = std::size_t{16} << 20}};
#else
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#if defined(NOPAL_DISTRIBUTED_OPENMP)
  omp_set_num_threads(static_cast<int>(workers));
#endif
#endif
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  search s{tree, rank, ranks, workers};
  MPI_Barrier(MPI_COMM_WORLD);
  double const began = distributed::now();
#if defined(NOPAL_DISTRIBUTED_NOPAL)
  pool.run([&] { s.run(); });
#else
  s.run();
#endif
  double const seconds = distributed::now() - began;
  bench::extent mine;
  for (counts const& c : s.counted) mine.add(c.found);
  std::array<long, 2> const sums{mine.nodes, mine.leaves};
  std::array<long, 2> all{};
  long depth = 0;
  MPI_Allreduce(sums.data(), all.data(), 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&mine.depth, &depth, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  bool const correct = bench::extent{depth, all[0], all[1]} == tree.expected;
  if (!correct && rank == 0) std::fprintf(stderr, "depth %ld, nodes %ld, leaves %ld\n", depth, all[0], all[1]);
  std::string const size = std::string{tree.name} + "/" + std::to_string(all[0]);
  double const share = static_cast<double>(mine.nodes) / static_cast<double>(all[0]);
  int const result = distributed::report("uts", "balanced", size, workers, seconds, seconds * share, correct);
#if !defined(NOPAL_DISTRIBUTED_NOPAL)
  MPI_Finalize();
#endif
  return result;
}
