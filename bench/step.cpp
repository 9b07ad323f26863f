// Training steps of a recipe on one fixed random batch of batch.global rows, images per second.
// Compare with bench/peers/step_resnet.py, step_unet.py, step_gpt2.py and step_awd_lstm.py; one
// step of an MLP: with bench/peers/startup.py.
//   bench_step STEPS[@SIZE[:SHARE]] RECIPE [key=value...]
// SIZE: of the images, 128 px; of texts, 256 tokens: images are then rows of tokens, of which the
// last SHARE of each, 1 for all, are learned.
#include <cstring>

#include "distributed/engine.h"
#include "losses/loss.h"
#include "optim/optimizer.h"
#include "setting.h"

namespace ddptrain::bench {

int main_of(int steps, std::int64_t size, double learned, const std::vector<std::string>& words) {
  auto setting = load(words);
  if (size > 0) setting.sample = {3, size, size};
  TokenSizes tokens;
  if (size > 0) tokens.length = size;
  tokens.learned = learned;
  prepare_process(setting.recipe, setting.placement);
  auto world = single_world();
  const auto rows = setting.placement.batch.global;
  Step step(setting, world, rows, tokens);
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
  if (argc < 3)
    return std::fputs("usage: bench_step STEPS[@SIZE[:SHARE]] RECIPE [key=value...]\n", stderr), 2;
  const char* size = std::strchr(argv[1], '@');
  const char* share = std::strchr(argv[1], ':');
  return ddptrain::bench::main_of(std::atoi(argv[1]), size ? std::atoll(size + 1) : 0,
                                  share ? std::atof(share + 1) : 1, {argv + 2, argv + argc});
}
