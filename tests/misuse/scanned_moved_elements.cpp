// expect: nopal: a scan reads each element twice, so it cannot move it away
#include <nopal/nopal.hpp>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

void scan(std::vector<std::string>& from, std::vector<std::string>& to) {
  auto moved = from | std::views::transform([](std::string& s) -> std::string&& { return std::move(s); });
  nopal::inclusive_scan(moved, to.begin());
}
