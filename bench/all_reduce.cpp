// Sums over ranks of this machine in shared memory, and over loopback by Gloo, interleaved.
//   bench_all_reduce [RANKS] [BYTES...]
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "distributed/world.h"
#include "launch/launcher.h"

namespace {

using namespace ddptrain;

constexpr int kRounds = 7;
constexpr int kRepeats = 5;  // of a round

struct Taken {
  double seconds;  // the median
  double cpu;      // of all threads of the process, the mean
};

Taken time_of_sum(World& world, at::Tensor& numbers) {
  world.control->barrier();
  world.gradients->all_reduce(numbers);
  const auto cpu = std::clock();
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    world.gradients->all_reduce(numbers);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    seconds.push_back(took.count());
  }
  const auto used = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  std::ranges::sort(seconds);
  return {seconds[seconds.size() / 2], used / kRepeats};
}

struct Pair {
  Taken shared, gloo;
};

template <class Figure>
double median_of(const std::vector<Pair>& pairs, Figure figure) {
  std::vector<double> all;
  for (const auto& pair : pairs) all.push_back(figure(pair));
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void print(int ranks, std::int64_t bytes, const std::vector<Pair>& pairs) {
  const auto shared = median_of(pairs, [](const Pair& pair) { return pair.shared.seconds; });
  const auto gloo = median_of(pairs, [](const Pair& pair) { return pair.gloo.seconds; });
  const auto ratio =
      median_of(pairs, [](const Pair& pair) { return pair.gloo.seconds / pair.shared.seconds; });
  const auto shared_cpu = median_of(pairs, [](const Pair& pair) { return pair.shared.cpu; });
  const auto gloo_cpu = median_of(pairs, [](const Pair& pair) { return pair.gloo.cpu; });
  std::printf(
      "{\"ranks\": %d, \"bytes\": %lld, \"shared_seconds\": %.6f, \"gloo_seconds\": %.6f, "
      "\"gloo_over_shared\": %.2f, \"shared_cpu_seconds\": %.6f, \"gloo_cpu_seconds\": %.6f}\n",
      ranks, static_cast<long long>(bytes), shared, gloo, ratio, shared_cpu, gloo_cpu);
}

int measure(const Topology& topology, const std::vector<std::int64_t>& sizes) {
  auto without = topology;
  without.arena = nullptr;
  auto shared = join(topology, {}), gloo = join(without, {});
  for (const auto bytes : sizes) {
    auto numbers = at::zeros({bytes / 4}, at::kFloat);
    auto buffer = shared.gradients->buffer(numbers.numel(), numbers.options());
    std::vector<Pair> pairs;
    for (int round = 0; round <= kRounds; ++round) {
      const auto by_memory = time_of_sum(shared, buffer);
      const auto by_gloo = time_of_sum(gloo, numbers);
      if (round > 0) pairs.push_back({by_memory, by_gloo});
    }
    if (topology.rank == 0) print(topology.world, bytes, pairs);
  }
  std::fflush(stdout);
  gloo.control->barrier();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<std::int64_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {8, 1 << 20, 45'000'000};
  return launch(ranks, [&](const Topology& topology) { return measure(topology, sizes); }, {});
}
