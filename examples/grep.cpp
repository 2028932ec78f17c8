// Prints the lines that contain a word, in all files below some folders: grep WORD FOLDER... A task for each folder forks a task for each
// entry. Each task writes its lines into its own slot; these are joined in the order of the names, whichever ended first.
// Work O(characters + names · log names), span O(depth of the folders + longest file).

#include <nopal/nopal.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace files = std::filesystem;

nopal::task<std::string> in_file(files::path path, std::string_view word) {
  std::ifstream file{path, std::ios::binary};
  std::string found;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(word) != line.npos) found += path.string() + ':' + std::to_string(number) + ": " + line + '\n';
  }
  co_return found;
}

nopal::task<std::string> in_folder(files::path folder, std::string_view word) {
  std::vector<files::path> entries;
  for (auto const& entry : files::directory_iterator{folder}) entries.push_back(entry.path());
  std::ranges::sort(entries);

  std::vector<std::string> found(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (files::is_symlink(entries[i])) continue;  // it may lead back
    if (files::is_directory(entries[i])) co_await nopal::fork(&found[i], in_folder, entries[i], word);
    if (files::is_regular_file(entries[i])) co_await nopal::fork(&found[i], in_file, entries[i], word);
  }
  co_await nopal::join;
  std::string all;
  for (auto const& some : found) all += some;
  co_return all;
}

/// A folder that the destructor removes, with folders of files in it: 40 of 200 have the word once.
struct specimens {
  files::path folder;

  specimens() {
    std::string name = (files::temp_directory_path() / "nopal_grep_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw files::filesystem_error{"mkdtemp " + name, std::make_error_code(std::errc::io_error)};
    folder = name;
    for (int i = 0; i < 200; ++i) {
      files::path const place = folder / ("folder" + std::to_string(i % 10)) / ("deeper" + std::to_string(i % 3));
      files::create_directories(place);
      std::ofstream file{place / ("file" + std::to_string(i))};
      for (int line = 0; line < 50; ++line) file << "line " << line << (i % 5 == 0 && line == 20 ? " has a needle\n" : " is hay\n");
    }
  }
  ~specimens() { files::remove_all(folder); }
};

int main(int argc, char** argv) try {
  nopal::pool pool;
  for (int i = 2; i < argc; ++i) std::fputs(pool.run(in_folder, files::path{argv[i]}, std::string_view{argv[1]}).c_str(), stdout);
  if (argc > 2) return 0;

  specimens const some;
  std::string const needles = pool.run(in_folder, some.folder, std::string_view{"needle"});
  std::string const nothing = pool.run(in_folder, some.folder, std::string_view{"thimble"});
  auto const lines = std::ranges::count(needles, '\n');
  std::printf("%td lines of 10000 have a needle\n", lines);
  bool const in_order = needles == pool.run(in_folder, some.folder, std::string_view{"needle"});
  return lines == 40 && nothing.empty() && in_order ? 0 : 1;
} catch (files::filesystem_error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
