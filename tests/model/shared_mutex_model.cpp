// The shipped shared mutex under every interleaving and stale value: a writer beside another owner would race, a lost wake-up is a
// deadlock.

#include <gtest/gtest.h>

#include "nopal/core/wait/basic_mutex.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::few_spins;
using model::made;
using model::program;
using model::scenario;
using model::var;
using model::waiting;
using model::waits;
using mutex = nopal::core::basic_shared_mutex<waits>;
using share = mutex::share;

bool try_lock(mutex& m, share s) { return m.lock_if_free(s) || m.try_lock_slowly(s); }
void lock(mutex& m, share s) {
  if (!m.lock_if_free(s)) m.lock_slowly(s);
}
bool lock_until(mutex& m, share s) { return m.lock_if_free(s) || m.lock_until(s, waits::soon); }
void unlock(mutex& m, share s) {
  if (!m.unlock_if_alone(s)) m.unlock_slowly(s);
}

/// The guarded data: writers count up, readers read it, twice.
struct tally {
  mutex m;
  var<int> n{0};
  void use(share s) {
    if (s == share::write) return n.set(n.get() + 1);
    int const before = n.get();
    check(n.get() == before, "nobody writes beside a reader");
  }
};

/// What a thread of a program does: how it locks, whether with a limit or by a try, and how often.
struct user {
  share wants;
  enum class way { wait, limit, attempt } by = way::wait;
  int times = 1;
};
constexpr user writer{share::write};
constexpr user reader{share::read};

scenario users(std::string name, std::vector<user> us, unsigned threads = 0, bool timer = false, int size = 1) {
  int const spins = us.size() + (timer ? 1 : 0) > 2 ? few_spins : 12;
  return waiting(
      std::move(name), threads,
      [us, timer](program& p) {
        auto& t = p.make<tally>();
        int writes = 0;
        bool all_write = true;
        for (user const u : us) {
          if (u.wants == share::write) {
            writes += u.times;
            all_write = all_write && u.by == user::way::wait;
          }
          p.thread([&t, u] {
            for (int k = 0; k < u.times; ++k) {
              switch (u.by) {
                case user::way::wait: lock(t.m, u.wants); break;
                case user::way::limit:
                  if (!lock_until(t.m, u.wants)) return;
                  break;
                case user::way::attempt:
                  if (!try_lock(t.m, u.wants)) return;
                  break;
              }
              t.use(u.wants);
              unlock(t.m, u.wants);
            }
          });
        }
        if (timer) p.thread([] { waits::timer_entry::expire(); });
        p.finally([&t, writes, all_write] {
          check(all_write ? t.n.get() == writes : t.n.get() <= writes, "each writer had it");
          check(t.m.at_rest(), "in the end nobody has it or waits");
        });
      },
      spins, size);
}

/// The last of two owners destroys it.
scenario the_last_destroys(std::string name, share first, share second) {
  return waiting(std::move(name), 0, [first, second](program& p) {
    auto& t = made<tally>(p);
    auto& left = p.make<model::atomic<int>>(2);
    for (share const s : {first, second}) {
      p.thread([&t, &left, s] {
        lock(t->m, s);
        t->use(s);
        // Under the lock, so that it carries no order that the mutex does not give.
        bool const last = left.fetch_sub(1, std::memory_order_relaxed) == 1;
        unlock(t->m, s);
        if (!last || s != share::write) return;
        check(t->m.at_rest(), "the last writer finds it free");
        t.reset();
      });
    }
  });
}

std::vector<scenario> const scenarios{
    users("two writers", {writer, writer}),
    users("two writers, as threads", {writer, writer}, 3),
    users("two readers", {reader, reader}),
    users("a writer and a reader", {writer, reader}),
    users("a writer and a reader, as threads", {writer, reader}, 3),
    users("a writer comes again, beside a reader", {{share::write, user::way::wait, 2}, reader}),
    users("a writer and two readers", {writer, reader, reader}),
    users("two writers and a reader", {writer, writer, reader}),
    users("a reader only tries", {writer, {share::read, user::way::attempt}}),
    users("a writer only tries", {reader, {share::write, user::way::attempt}}),
    users("a writer with a limit, beside a reader", {reader, {share::write, user::way::limit}}, 0, true),
    users("a reader with a limit, beside a writer", {writer, {share::read, user::way::limit}}, 0, true),
    users("a writer whose limit expires, between readers", {reader, {share::write, user::way::limit}, reader}, 0, true, 2),
    users("a writer that is a thread with a limit, between readers", {reader, {share::write, user::way::limit}, reader}, 2),
    the_last_destroys("the last of two writers destroys it", share::write, share::write),
    the_last_destroys("a writer after a reader destroys it", share::write, share::read),
};

std::vector<model::survivor> const known_survivors{};

NOPAL_MODELS_THAT_WAIT(shared_mutex, "basic_mutex.hpp", "queued_word.hpp", "spin_lock.hpp")

}  // namespace
