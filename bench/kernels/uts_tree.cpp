#include "uts_tree.hpp"

#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr tree geometric(std::string_view name, int depth, double branching, std::uint32_t root_id, extent expected) {
  return {name, tree::shape::geometric, root_id, branching, depth, 0, 0, expected};
}

constexpr tree binomial(std::string_view name, double branching, double probability, std::size_t children, std::uint32_t root_id,
                        extent expected) {
  return {name, tree::shape::binomial, root_id, branching, 0, probability, children, expected};
}

constexpr std::array trees = {
    geometric("T1S", 6, 4, 19, {6, 16'000, 12'839}),
    geometric("T1", 10, 4, 19, {10, 4'130'071, 3'305'118}),
    geometric("T1L", 13, 4, 29, {13, 102'181'082, 81'746'377}),
    geometric("T1XXL", 15, 4, 19, {15, 4'230'646'601, 3'384'495'738}),
    binomial("T3S", 100, 0.124, 8, 42, {67, 6'765, 5'931}),
    binomial("T3", 2000, 0.124875, 8, 42, {1'572, 4'112'897, 3'599'034}),
    binomial("T3L", 2000, 0.200014, 5, 7, {17'844, 111'345'631, 89'076'904}),
    binomial("T3XXL", 2000, 0.499995, 2, 316, {99'049, 2'793'220'501, 1'396'611'250}),
};

}  // namespace

const tree& tree_named(std::string_view name) {
  for (const tree& candidate : trees)
    if (candidate.name == name) return candidate;

  std::string known;
  for (const tree& candidate : trees) known.append(known.empty() ? "" : ", ").append(candidate.name);
  throw std::invalid_argument{"--tree takes one of " + known + ", not '" + std::string{name} + "'"};
}

}  // namespace bench
