// A build system: 200 targets, each of which needs others. A graph has a node for each target, and an edge for each need; it is made once and
// run twice. At last a target needs itself by way of others: the message names them.
// For n targets of t each, m needs and a longest chain of c: work O(n t + m), span O(c t + n + m), of which the last two are for making the graph.

#include <nopal/graph.hpp>
#include <nopal/pool.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct target {
  std::string name;
  std::vector<std::string> needs;
};

/// 30 headers, 140 objects, 25 libraries and 5 programs, each after what it needs.
std::vector<target> makefile() {
  const auto named = [](char kind, int k) { return kind + std::to_string(k); };
  std::vector<target> all;
  for (int k = 0; k < 30; ++k) all.push_back({named('h', k), {}});
  for (int k = 3; k < 30; ++k) all[static_cast<std::size_t>(k)].needs = {named('h', k / 3)};
  for (int k = 0; k < 140; ++k) all.push_back({named('o', k), {named('h', k % 30), named('h', (k + 7) % 30)}});
  for (int k = 0; k < 25; ++k) {
    all.push_back({named('l', k), {}});
    for (int object = k; object < 140; object += 25) all.back().needs.push_back(named('o', object));
  }
  for (int k = 0; k < 5; ++k) {
    all.push_back({named('p', k), {}});
    for (int library = k; library < 25; library += 5) all.back().needs.push_back(named('l', library));
  }
  return all;
}

using results = std::map<std::string, std::uint64_t>;

void make(target const& t, results& built) {
  std::uint64_t x = t.name.size();
  for (int round = 0; round < 2000; ++round)
    for (char c : t.name) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + static_cast<unsigned char>(c);
  for (auto const& need : t.needs) x ^= built.at(need);  // these have ended
  built.at(t.name) = x;
}

nopal::graph plan(std::vector<target> const& targets, results& built) {
  nopal::graph g;
  std::map<std::string, nopal::graph_node> nodes;
  for (target const& t : targets) {
    built[t.name] = 0;  // all keys are there before anything runs: the map itself stays as it is
    nodes[t.name] = g.node(nopal::name{t.name}, [&t, &built] { make(t, built); });
  }
  for (target const& t : targets)
    for (auto const& need : t.needs) g.edge(nodes.at(need), nodes.at(t.name));
  return g;
}

int main() {
  std::vector<target> targets = makefile();
  results serial, built;
  for (target const& t : targets) serial[t.name] = 0;
  for (target const& t : targets) make(t, serial);

  nopal::pool pool{{.workers = 4}};
  nopal::graph g = plan(targets, built);
  pool.run(g);
  bool right = built == serial;
  for (auto& [name, result] : built) result = 0;
  pool.run(g);
  right = right && built == serial;
  std::printf("%zu targets, p0 is %016llx\n", built.size(), static_cast<unsigned long long>(built["p0"]));

  targets[1].needs = {"h9"};  // which needs h3, which needs h1
  try {
    results none;
    nopal::graph wrong = plan(targets, none);
    pool.run(wrong);
  } catch (std::invalid_argument const& e) {
    std::printf("%s\n", e.what());
    return right && std::string{e.what()}.find("h1 -> h3 -> h9") != std::string::npos ? 0 : 1;
  }
  return 1;
}
