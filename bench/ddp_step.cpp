// What ddp adds to a step: bare and ddp blocks interleaved on the same ranks, one thread each.
// Compare with bench/peers/ddp_step.py.
//   bench_ddp_step ROUNDS BLOCK RECIPE [key=value...]    (parallel.mode=ddp, parallel.devices=2,
//   batch.per_device=32)
#include "launch/launcher.h"
#include "setting.h"

namespace ddptrain::bench {

int rank_main(const Setting& setting, const Topology& topology, int rounds, int block) {
  prepare_process(setting.recipe, setting.placement);
  auto world = join_world(setting.recipe, setting.placement, topology);
  auto alone = single_world();
  auto bare_setting = setting;
  bare_setting.recipe.parallel.mode = Mode::none;
  const auto rows = setting.placement.batch.micro;
  Step bare(bare_setting, alone, rows), ddp(setting, world, rows);
  std::vector<double> bare_seconds, ddp_seconds;
  const auto run = [&](Step& step, std::vector<double>& seconds, bool count) {
    world.control->barrier();
    for (int i = 0; i < block; ++i) {
      const double taken = seconds_of([&] { step(); });
      if (count) seconds.push_back(taken);
    }
  };
  for (int round = 0; round <= rounds; ++round) {  // the first warms up
    run(bare, bare_seconds, round > 0);
    run(ddp, ddp_seconds, round > 0);
  }
  const double b = median(bare_seconds), d = median(ddp_seconds);
  if (topology.rank == 0)
    std::printf("{\"bare_seconds\": %.6f, \"ddp_seconds\": %.6f, \"ddp_over_bare\": %.6f}\n", b, d,
                d / b);
  std::fflush(stdout);
  world.control->barrier();
  return 0;
}

}  // namespace ddptrain::bench

int main(int argc, char** argv) {
  using namespace ddptrain;
  if (argc < 4)
    return std::fputs("usage: bench_ddp_step ROUNDS BLOCK RECIPE [key=value...]\n", stderr), 2;
  const auto setting = bench::load({argv + 3, argv + argc});
  const int rounds = std::atoi(argv[1]), block = std::atoi(argv[2]);
  return launch(
      setting.placement.ranks,
      [&](const Topology& topology) { return bench::rank_main(setting, topology, rounds, block); },
      {});
}
