// Images per second of a recipe's training samples as the loader gives them: read from shards,
// decoded, transformed, in batches, by `data.loader.workers` threads. Next to
// bench/peers/shards_webdataset.py.
//   bench_shard_speed EPOCHS RECIPE [key=value...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/error.h"
#include "config/catalog.h"
#include "config/decode.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "recipe/load/load.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "train/catalogs.h"

using namespace ddptrain;

namespace {

Recipe read_recipe(int count, char** words) {
  auto loaded = load_recipe({words[2]}, {words + 3, words + count}, all_catalogs());
  if (has_errors(loaded.problems)) throw Error(Exit::recipe, render(loaded.problems));
  return loaded.recipe;
}

/// Of one epoch, its first batch left out.
double rate(Loader& loader, const Sampler& sampler, std::int64_t epoch, const ShardPlan& plan) {
  EpochPlan one{epoch, sampler.order(epoch), {}, plan.global};
  for (auto& step : shard(static_cast<std::int64_t>(one.order.size()), plan, 0))
    one.micros.push_back(std::move(step.front()));
  const auto batches = one.micros.size();
  loader.start(std::move(one));
  loader.next();
  const double start = seconds_now();
  std::int64_t images = 0;
  for (std::size_t i = 1; i < batches; ++i) images += loader.next().rows;
  return static_cast<double>(images) / (seconds_now() - start);
}

}  // namespace

int main(int count, char** words) try {
  if (count < 3)
    return std::fputs("usage: bench_shard_speed EPOCHS RECIPE [key=value...]\n", stderr), 2;
  const auto recipe = read_recipe(count, words);
  const auto data = build_data(recipe);
  const auto section = decode<DataSection>(recipe.data.node());
  const auto sampler = build_sampler(recipe, *data);
  LoaderOptions options;
  options.workers = static_cast<int>(section.loader.workers.value.value_or(2));
  options.seed = seed_of_data(recipe);
  const auto loader = make_loader(*data, options);
  const auto plan = shard_plan(section.loader, {.global = recipe.batch.global.value_or(64)});
  double best = 0;
  for (int epoch = 0; epoch < std::atoi(words[1]); ++epoch)
    best = std::max(best, rate(*loader, *sampler, epoch, plan));
  std::printf("{\"images_per_second\": %.1f}\n", best);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
