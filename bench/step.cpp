// Training steps of a recipe on one fixed random batch of batch.global rows, images per second.
// Beside bench/peers/step_resnet18.py, and with one step and an MLP beside bench/peers/startup.py.
//   bench_step STEPS RECIPE [key=value...]
#include "setting.h"

namespace ddptrain::bench {

int main_of(int steps, const std::vector<std::string>& words) {
  const auto setting = load(words);
  prepare_process(setting.recipe, setting.placement);
  auto world = single_world();
  const auto rows = setting.placement.batch.global;
  Step step(setting, world, rows);
  if (steps > 1)  // the first two warm up
    for (int i = 0; i < 2; ++i) step();
  std::vector<double> seconds;
  for (int i = 0; i < steps; ++i) seconds.push_back(seconds_of([&] { step(); }));
  const auto count = static_cast<double>(rows);
  std::printf("{\"images_per_second\": %.3f, \"best\": %.3f}\n", count / median(seconds),
              count / *std::min_element(seconds.begin(), seconds.end()));
  return 0;
}

}  // namespace ddptrain::bench

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: bench_step STEPS RECIPE [key=value...]\n", stderr), 2;
  return ddptrain::bench::main_of(std::atoi(argv[1]), {argv + 2, argv + argc});
}
