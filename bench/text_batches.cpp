// text_batches RECIPE: the share of padding in a recipe's training batches, and how much ranks
// differ in tokens per step, with its sampler.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "config/catalog.h"
#include "data/loader/lengths.h"
#include "recipe/load/load.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/catalogs.h"

using namespace ddptrain;

namespace {

Recipe read_recipe(int count, char** words) {
  auto loaded = load_recipe({words[1]}, {words + 2, words + count}, all_catalogs());
  if (!loaded.problems.empty()) throw Error(Exit::recipe, render(loaded.problems));
  return loaded.recipe;
}

/// Mean and greatest share by which the rank with the most tokens has more than the one with the
/// fewest.
void print_imbalance(const std::vector<std::int64_t>& lengths, ShardPlan plan) {
  std::vector<RankPlan> ranks;
  const auto n = static_cast<std::int64_t>(lengths.size());
  for (std::int64_t rank = 0; rank < plan.world; ++rank) ranks.push_back(shard(n, plan, rank));
  double sum = 0, worst = 0;
  for (std::size_t step = 0; step < ranks[0].size(); ++step) {
    std::vector<double> tokens;
    for (const auto& rank : ranks) {
      tokens.push_back(0);
      for (const auto& micro : rank[step])
        for (const auto at : micro.positions)
          tokens.back() += static_cast<double>(lengths[static_cast<std::size_t>(at)]);
    }
    const auto [least, most] = std::minmax_element(tokens.begin(), tokens.end());
    sum += *most / *least - 1;
    worst = std::max(worst, *most / *least - 1);
  }
  std::printf("ranks %ld imbalance %.2f %% at most %.2f %%\n", plan.world,
              100 * sum / static_cast<double>(ranks[0].size()), 100 * worst);
}

void print_padding(const std::vector<std::int64_t>& lengths, const ShardPlan& plan) {
  const auto longest = step_lengths(lengths, plan);
  double padded = 0, tokens = 0;
  for (std::size_t step = 0; step < longest.size(); ++step)
    for (std::int64_t row = 0; row < plan.global; ++row) {
      const auto at = step * static_cast<std::size_t>(plan.global) + static_cast<std::size_t>(row);
      if (at >= lengths.size()) break;
      padded += static_cast<double>(longest[step]);
      tokens += static_cast<double>(lengths[at]);
    }
  std::printf("batch %ld padding %.2f %%\n", plan.global, 100 * (1 - tokens / padded));
}

}  // namespace

int main(int count, char** words) try {
  const auto recipe = read_recipe(count, words);
  const auto data = build_data(recipe);
  const auto section = decode<DataSection>(recipe.data.node());
  const auto global = recipe.batch.global.value_or(64);
  const SamplerContext context{
      data->size(Split::train), {}, 1, lengths_of(*data, Split::train), global};
  const auto order = catalog<Sampler>().build(section.sampler, context)->order(0);
  const auto lengths = lengths_of(*data, Split::train, order);
  ShardPlan plan;
  plan.global = global;
  print_padding(lengths, plan);
  for (const std::int64_t world : {2, 3, 4, 8}) {
    plan.world = world;
    print_imbalance(lengths, plan);
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
