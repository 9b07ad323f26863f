// Trains a recipe for some steps and writes what a plain PyTorch script needs to do the same: first
// weights, the batches in order, the losses. bench/peers/parity.py compares.
//   bench_parity OUT_FOLDER STEPS RECIPE [key=value...]    (steps of one epoch; parallel.mode=none)
#include <filesystem>
#include <fstream>

#include "checkpoint/safetensors.h"
#include "data/loader/loader.h"
#include "setting.h"
#include "train/loop/epoch.h"
#include "train/run_state.h"
#include "train/step/step.h"
#include "train/training.h"

namespace ddptrain::bench {
namespace {

std::vector<NamedTensor> copies(const std::vector<NamedTensor>& live) {
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : live) all.push_back({name, tensor.detach().clone()});
  return all;
}

Safetensors first_batches(Training& t, std::int64_t steps) {
  start_epoch(t, {});
  Safetensors file;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto batch = t.loader->next();
    const auto number = std::to_string(step);
    file.tensors.push_back({"input." + number, batch.inputs.at(0).contiguous().clone()});
    file.tensors.push_back({"target." + number, batch.targets.at(0).clone()});
  }
  return file;
}

void write_run(const Setting& setting, const std::string& folder, std::int64_t steps) {
  prepare_process(setting.recipe, setting.placement);
  auto world = single_world();
  const auto t = build({setting.recipe, setting.placement}, world);
  std::filesystem::create_directories(folder);
  write_safetensors(folder + "/first.safetensors", {copies(t->engine->model().state()), {}});
  write_safetensors(folder + "/batches.safetensors", first_batches(*t, steps));
  start_epoch(*t, {});
  std::ofstream losses(folder + "/losses.txt");
  losses.precision(17);
  RunState state;
  while (state.position.step < steps) losses << make_step(*t, state, 1).loss() << "\n";
}

}  // namespace
}  // namespace ddptrain::bench

int main(int count, char** words) try {
  if (count < 4)
    return std::fputs("usage: bench_parity OUT STEPS RECIPE [key=value...]\n", stderr), 2;
  ddptrain::bench::write_run(ddptrain::bench::load({words + 3, words + count}), words[1],
                             std::atoll(words[2]));
  return 0;
} catch (const ddptrain::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
