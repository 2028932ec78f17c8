// Searches that end early. find_if: the first number with a hash that begins with 16 zero bits, as a serial search would find it. Any such
// number: the worker that finds one makes a request to stop to all others. A search without an answer: a time limit ends it.
// If the first answer is number n: work O(n + what others have begun), span O(log n).

#include <nopal/algorithm.hpp>
#include <nopal/stop.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ranges>
#include <stop_token>

using namespace std::chrono_literals;

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
  return x ^ x >> 31;
}
bool is_answer(std::uint64_t x) { return hash(x + 1) >> 48 == 0; }

/// The least answer below `end`, or `end`.
std::uint64_t first_answer(std::uint64_t end) { return *nopal::find_if(std::views::iota(std::uint64_t{0}, end), is_answer); }

/// Any answer below `end`, or `end`.
std::uint64_t any_answer(std::uint64_t end) {
  std::atomic<std::uint64_t> answer{end};
  std::stop_source found;
  try {
    nopal::with_stop(found.get_token(), [&] {
      nopal::parallel_for(0, end, [&](std::uint64_t x) {
        if (!is_answer(x)) return;
        answer = x;
        found.request_stop();
      });
    });
  } catch (nopal::stopped const&) {
  }
  return answer;
}

/// Looks for a number other than 0 with hash 0. There is none: the hash is one to one.
bool gives_up_after(std::chrono::milliseconds limit) {
  auto const numbers = std::views::iota(std::uint64_t{1}, std::uint64_t{1} << 62);
  try {
    nopal::with_time_limit(limit, [&] { return nopal::find_if(numbers, [](std::uint64_t x) { return hash(x) == 0; }); });
  } catch (nopal::stopped const&) {
    return true;
  }
  return false;
}

int main() {
  std::uint64_t serial = 0;
  while (!is_answer(serial)) ++serial;
  std::uint64_t const first = first_answer(100'000'000), any = any_answer(100'000'000), none = first_answer(serial);
  bool const gave_up = gives_up_after(20ms);
  std::printf("first answer %ju, any answer %ju\n", std::uintmax_t{first}, std::uintmax_t{any});
  return first == serial && any < 100'000'000 && is_answer(any) && none == serial && gave_up ? 0 : 1;
}
