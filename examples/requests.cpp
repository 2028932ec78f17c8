// A server: each request is a fiber that asks a library, which answers on a thread of its own, and sets a promise. Each request has a time
// limit of its own, and Ctrl-C stops them all. Some of the library's answers never come: those requests are late.
// For n requests: work O(n log n), span O(n): one fiber takes them in.

#include <nopal/fiber.hpp>
#include <nopal/pool.hpp>
#include <nopal/promise.hpp>
#include <nopal/stop.hpp>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

struct question {
  int key;
  nopal::promise<int> answer;
};
struct request {
  int key;
  std::chrono::milliseconds limit;
  nopal::promise<int> status;
};

/// The library's thread. It answers what is even, and keeps the rest until the end.
void database(nopal::channel<question>& questions) {
  std::vector<question> kept;
  for (question& q : questions) {
    if (q.key % 2 == 0)
      q.answer.set_value(q.key / 2);
    else
      kept.push_back(std::move(q));
  }
}

int look_up(nopal::channel<question>& questions, int key) {
  nopal::promise<int> p;
  nopal::future<int> answer = p.get_future();
  questions.push({key, std::move(p)});
  return answer.get() >= 0 ? 200 : 404;  // its fiber waits, and the worker does something else
}

void handle(nopal::channel<question>& questions, request r) {
  try {
    r.status.set_value(nopal::with_time_limit(r.limit, look_up, questions, r.key));
  } catch (nopal::stopped const&) {
    r.status.set_value(nopal::stop_requested() ? 503 : 504);  // all is asked to stop, or the time was up
  }
}

/// Until it is asked to stop; then it ends once all have an answer, those too that nobody has taken.
void serve(nopal::channel<request>& requests, nopal::channel<question>& questions) {
  nopal::counter left;
  try {
    for (request& r : requests) nopal::spawn(left, [&questions, r = std::move(r)]() mutable { handle(questions, std::move(r)); });
  } catch (nopal::stopped const&) {
    requests.close();
    while (auto r = requests.try_pop()) r->status.set_value(503);
  }
  nopal::without_stop([&] { nopal::wait_for(left); });
}

std::stop_token on_interrupt() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // for this thread, and those that it makes later
  std::stop_source source;
  std::thread{[set, source] {
    int number = 0;
    sigwait(&set, &number);
    source.request_stop();
  }}.detach();
  return source.get_token();
}

int main() {
  std::stop_token const token = on_interrupt();
  nopal::channel<question> questions{64};
  nopal::channel<request> requests{64};
  std::thread library{[&] { database(questions); }};
  std::map<int, int> count;  // by status
  std::thread client{[&] {
    std::vector<nopal::future<int>> replies;
    auto const ask = [&](int key, std::chrono::milliseconds limit) {
      nopal::promise<int> p;
      replies.push_back(p.get_future());
      requests.push({key, limit, std::move(p)});
    };
    for (int key = 0; key < 200; ++key) ask(key, key % 2 == 0 ? 1h : 5ms);  // what is answered has time, whatever else the machine does
    for (auto& reply : replies) ++count[reply.get()];
    ask(1, 1h);  // waits until somebody presses Ctrl-C
    kill(getpid(), SIGINT);
    ++count[replies.back().get()];
  }};
  nopal::pool pool{{.workers = 2}};
  pool.run([&] { nopal::with_stop(token, [&] { serve(requests, questions); }); });
  client.join();
  questions.close();
  library.join();
  for (auto const& [status, n] : count) std::printf("%d: %d\n", status, n);
  return count == std::map<int, int>{{200, 100}, {503, 1}, {504, 100}} ? 0 : 1;
}
