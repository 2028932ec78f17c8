#pragma once

// files: one loop that forks a child for each file below /usr/include, and each child reads its file.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct files_problem {
  static constexpr const char* name = "files";

  explicit files_problem(const options& opts) {
    const std::size_t most = pick(opts, {.smoke = 100, .standard = 25'000, .paper = 25'000});
    for (const auto& one : std::filesystem::recursive_directory_iterator{"/usr/include"}) {
      if (names.size() == most) break;
      if (one.is_regular_file()) names.push_back(one.path().string());
    }
    for (const std::string& one : names) expected += read(one);
  }

  // Adds up the bytes of a file.
  static std::uint64_t read(const std::string& path);

  void reset() { found = 0; }
  [[nodiscard]] std::string size() const { return std::to_string(names.size()); }
  [[nodiscard]] bool correct() const { return found == expected; }
  [[nodiscard]] std::string answer_text() const { return std::to_string(found.load()); }

  std::vector<std::string> names;
  std::uint64_t expected = 0;
  std::atomic<std::uint64_t> found{0};
};

}  // namespace bench
