#include "simulation/src/costs.hpp"

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/open_file.hpp"
#include "base/read_text.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr double most = 1e9;  // a second

[[noreturn]] void reject(std::string_view word, char const* why) {
  throw std::invalid_argument{
      "nopal::pool: NOPAL_SIMULATION has \"" + std::string{word} + "\", " + why +
      "; write what ./nopal calibrate does, as steal=300/700,look=60/120,relax=20,yield=500,wake=4000,wake_up=25000,"
      "slice=100000 (nanoseconds, from 0 to 1000000000; lists by distance), clock=measured or clock=given, "
      "report=FILE, or @FILE with such words in it"};
}

double read_number(std::string_view word, std::string_view text) {
  double n = 0;
  if (!read_all(text, n)) reject(word, "which is no number");
  if (!std::isfinite(n) || n < 0 || n > most) reject(word, "which is below 0 or above a second");
  return n;
}

std::vector<double> read_list(std::string_view word, std::string_view text) {
  std::vector<double> list;
  do list.push_back(read_number(word, take_until(text, '/')));
  while (!text.empty());
  return list;
}

constexpr std::size_t most_in_a_file = std::size_t{1} << 20;
constexpr int most_files = 10;  // one inside another

void read_words(std::string_view text, simulation_costs& c, int files);

void read_file(std::string_view word, simulation_costs& c, int files) {
  if (files == most_files) reject(word, "a file that is named inside of ten others, or of itself");
  std::string text;
  std::string const name{word.substr(1)};
  std::FILE* const file = std::fopen(name.c_str(), "re");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    text.resize(most_in_a_file + 1);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    if (std::ferror(file) != 0) error = errno;
    std::fclose(file);
  }
  if (error != 0) reject(word, ("a file that cannot be read: " + std::generic_category().message(error)).c_str());
  if (text.size() > most_in_a_file) reject(word, "a file of more than 1 MiB");
  for (char& l : text) l = l == '\n' ? ',' : l;
  read_words(text, c, files + 1);
}

void read_word(std::string_view word, simulation_costs& c, int files) {
  if (word.starts_with('@')) return read_file(word, c, files);
  std::string_view value = word;
  std::string_view const name = take_until(value, '=');
  if (name == "report" && !value.empty()) {
    c.report = absolute_name(value);
  } else if (name == "clock" && (value == "measured" || value == "given")) {
    c.measures = value == "measured";
  } else if (name == "look") {
    c.look = read_list(word, value);
  } else if (name == "steal") {
    c.steal = read_list(word, value);
  } else {
    double* const cost = name == "relax"     ? &c.relax
                         : name == "yield"   ? &c.yield
                         : name == "wake"    ? &c.wake
                         : name == "wake_up" ? &c.wake_up
                         : name == "slice"   ? &c.slice
                                             : nullptr;
    if (cost == nullptr) reject(word, "which says nothing");
    *cost = read_number(word, value);
  }
}

void read_words(std::string_view text, simulation_costs& c, int files) {
  while (!text.empty()) {
    std::string_view const word = take_until(text, ',');
    if (!word.empty() && !word.starts_with('#')) read_word(word, c, files);
  }
}

}  // namespace

simulation_costs simulation_costs::parse(std::string_view text) {
  simulation_costs c;
  read_words(text, c, 0);
  // If a pause or a yield took no time, a thief would look for ever, and no other worker would have a turn.
  if (c.relax < 1) c.relax = 1;
  if (c.yield < 1) c.yield = 1;
  return c;
}

simulation_costs simulation_costs::from_environment() {
  char const* const text = ::secure_getenv("NOPAL_SIMULATION");  // it may name files
  return parse(text == nullptr ? "" : text);
}

}  // namespace nopal::core
