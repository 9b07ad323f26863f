// Trains a recipe for some steps and writes what a plain PyTorch script needs to do the same: first
// weights, the batches in order, the losses. bench/peers/parity.py compares.
//   bench_parity OUT_FOLDER STEPS RECIPE [key=value...]
#include <ATen/ops/full.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "checkpoint/safetensors.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/catalogs.h"
#include "train/run/rank.h"
#include "train/step/step.h"

namespace ddptrain {
namespace {

std::vector<NamedTensor> copies(const std::vector<NamedTensor>& live) {
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : live) all.push_back({name, tensor.detach().clone()});
  return all;
}

EpochPlan first_steps(const Training& t, std::int64_t steps) {
  auto order = t.sampler->order(0);
  const auto plan = shard(static_cast<std::int64_t>(order.size()), shard_plan(t), 0);
  EpochPlan epoch{0, std::move(order), {}};
  for (std::int64_t step = 0; step < steps; ++step)
    for (const auto& micro : plan.at(static_cast<std::size_t>(step))) epoch.micros.push_back(micro);
  return epoch;
}

void write_batches(Training& t, const std::string& folder, std::int64_t steps) {
  t.loader->start(first_steps(t, steps));
  Safetensors file;
  for (std::int64_t step = 0; step < steps; ++step) {
    auto batch = t.loader->next();
    const auto number = std::to_string(step);
    file.tensors.push_back({"input." + number, batch.inputs.at(0).contiguous().clone()});
    file.tensors.push_back({"target." + number, batch.targets.at(0).clone()});
  }
  write_safetensors(folder + "/batches.safetensors", file);
}

int main_of(const std::string& folder, std::int64_t steps, const std::vector<std::string>& files,
            const std::vector<std::string>& overrides) {
  auto loaded = load_recipe(files, overrides, all_catalogs());
  if (has_errors(loaded.problems)) {
    std::fputs(render(loaded.problems).c_str(), stderr);
    return 2;
  }
  const auto placement = place(loaded.recipe, {});
  const auto recipe = resolved(loaded.recipe, placement);
  prepare_process(recipe, placement);
  auto world = join_world(recipe, placement, {});
  auto t = build(recipe, placement, world);
  std::filesystem::create_directories(folder);
  write_safetensors(folder + "/first.safetensors", {copies(t.engine->model().state()), {}});
  write_batches(t, folder, steps);
  t.loader->start(first_steps(t, steps));
  std::ofstream losses(folder + "/losses.txt");
  losses.precision(17);
  for (; t.position.step < steps; ++t.position.step) losses << make_step(t, 1).loss << "\n";
  return 0;
}

}  // namespace
}  // namespace ddptrain

int main(int argc, char** argv) {
  if (argc < 4)
    return std::fputs("usage: bench_parity OUT STEPS RECIPE [key=value...]\n", stderr), 2;
  return ddptrain::main_of(argv[1], std::stol(argv[2]), {argv[3]}, {argv + 4, argv + argc});
}
