#include "harness.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace bench {
namespace {

constexpr int wrong_answer = 1;
constexpr int failure = 2;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Runs `body` to its end on a thread of its own. Pages of that stack count only once they are touched.
void on_deep_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deep_stack);

  const auto entry = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, entry, &body);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error{error, std::generic_category(), "a thread with a stack of 1 GiB"};
  pthread_join(thread, nullptr);
}

}  // namespace

options options::smoke() const {
  options small = *this;
  small.size = "smoke";
  return small;
}

std::size_t pick(const options& opts, const named_sizes& sizes) {
  if (opts.size == "smoke") return sizes.smoke;
  if (opts.size == "default") return sizes.standard;
  if (opts.size == "paper") return sizes.paper;

  std::size_t number = 0;
  const char* const end = opts.size.data() + opts.size.size();
  const auto [stop, error] = std::from_chars(opts.size.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1)
    throw std::invalid_argument{"--size takes smoke, default, paper or a positive number, not '" + opts.size + "'"};
  return number;
}

void print(const record& result) {
  nlohmann::ordered_json line;
  line["kernel"] = result.kernel;
  line["impl"] = result.impl;
  line["workers"] = result.workers;
  line["size"] = result.size;
  line["seconds"] = median(result.seconds);
  if (result.seconds.size() > 1) line["all_seconds"] = result.seconds;
  line["ok"] = result.ok;
  line["answer"] = result.answer;
  line["peak_rss_kib"] = peak_rss_kib();
  if (result.steals) line["steals"] = *result.steals;
  line["compiler"] = compiler();
  line["peer"] = result.peer;
  std::cout << line.dump() << std::endl;
}

int start(int argc, char** argv, const std::string& title, const std::function<bool(const options&)>& body) {
  options opts;
  CLI::App app{"nopal benchmark: " + title};
  app.add_option("--size", opts.size, "smoke, default, paper, or a number")->capture_default_str();
  app.add_option("--tree", opts.tree, "which UTS tree: T1, T3, T1L, T3L, T1XXL, T3XXL")->capture_default_str();
  app.add_option("--workers", opts.workers, "how many threads work")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--repeat", opts.repeat, "timed runs in this process")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  int status = failure;
  try {
    on_deep_stack([&] {
      try {
        status = body(opts) ? 0 : wrong_answer;
      } catch (const std::exception& error) {
        std::cerr << title << ": " << error.what() << '\n';
      }
    });
  } catch (const std::exception& error) {
    std::cerr << title << ": " << error.what() << '\n';
  }
  return status;
}

}  // namespace bench
