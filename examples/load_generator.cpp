// A server and its test: clients send HTTP requests, wait for each answer, and print how long the answers took. Every client and every
// request in service is a fiber; of a thousand that wait, none keeps a thread.
// For n requests that take t each, and c clients: work Θ(n), span O(n / c · t), since a client waits for its answer before it asks again.

#include <nopal/fiber.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct request {
  std::string text;
  nopal::channel<std::string>* answer;
};

/// Takes a while, like a query of a database, and answers.
void serve(request const& r) {
  constexpr std::string_view get = "GET /square/";
  if (!r.text.starts_with(get)) {
    r.answer->push("HTTP/1.1 400 Bad Request\r\n\r\n");
    return;
  }
  long const n = std::stol(r.text.substr(get.size()));
  nopal::sleep_for(n % 10 == 0 ? 5ms : 1ms);
  r.answer->push("HTTP/1.1 200 OK\r\n\r\n" + std::to_string(n * n));
}

int main() {
  constexpr int clients = 500, each = 4;
  nopal::channel<request> listening{64};
  nopal::counter server, serving, asking;
  nopal::spawn(server, [&] {
    for (request& r : listening) nopal::spawn(serving, [r = std::move(r)] { serve(r); });
  });

  std::vector<clock_type::duration> took(std::size_t{clients} * each);
  std::vector<int> wrong(clients);
  for (int client = 0; client < clients; ++client) {
    nopal::spawn(asking, [&, client] {
      nopal::channel<std::string> answer{1};
      for (int k = 0; k < each; ++k) {
        int const n = client * each + k;
        bool const nonsense = n % 50 == 49;
        auto const began = clock_type::now();
        listening.push({(nonsense ? "PUT /square/" : "GET /square/") + std::to_string(n) + " HTTP/1.1\r\n\r\n", &answer});
        std::string const said = answer.pop().value();
        took[static_cast<std::size_t>(n)] = clock_type::now() - began;
        wrong[static_cast<std::size_t>(client)] +=
            nonsense ? !said.starts_with("HTTP/1.1 400") : !said.ends_with("\r\n\r\n" + std::to_string(long{n} * n));
      }
    });
  }
  nopal::wait_for(asking);
  listening.close();
  nopal::wait_for(server);
  nopal::wait_for(serving);

  std::ranges::sort(took);
  auto const percentile = [&](std::size_t p) { return std::chrono::duration<double, std::milli>{took[took.size() * p / 100]}.count(); };
  std::printf("%zu requests of %d clients: half took at most %.1f ms, 99 %% at most %.1f ms\n", took.size(), clients, percentile(50),
              percentile(99));
  return std::ranges::count(wrong, 0) == clients ? 0 : 1;
}
