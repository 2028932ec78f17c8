// Sums an array block by block: the blocks' sums are in scratch memory on the task's own stack, which costs a pointer bump.
// Work Θ(n), span Θ(blocks + n / blocks).

#include <nopal/nopal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

nopal::task<long> sum_block(std::span<int const> block) { co_return std::accumulate(block.begin(), block.end(), 0L); }

nopal::task<long> parallel_sum(std::span<int const> all, std::size_t block) {
  if (all.empty()) co_return 0;
  auto const sums = co_await nopal::stack_array<long>((all.size() + block - 1) / block);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    co_await nopal::fork(&sums[i], sum_block, all.subspan(i * block, std::min(block, all.size() - i * block)));
  }
  co_await nopal::join;
  co_return std::accumulate(sums.begin(), sums.end(), 0L);
}

int main() {
  std::vector<int> numbers(3'000'000);
  std::iota(numbers.begin(), numbers.end(), 1);
  nopal::pool pool;
  long const sum = pool.run(parallel_sum, numbers, std::size_t{10'000});
  std::printf("1 + 2 + … + %zu = %ld\n", numbers.size(), sum);
  return sum == 3'000'000L * 3'000'001 / 2 ? 0 : 1;
}
