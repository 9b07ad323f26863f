// parallel.mode: auto on devices that count their memory.
#include "train/build/chosen_mode.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "recipe/mode.h"
#include "simulated/use.h"
#include "support/ranks.h"
#include "train/build/bounded_training.h"

namespace ddptrain {
namespace {

using namespace test;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// `Scaled` with 8 MiB of weights more, of which a pass keeps three times as much.
class Heavy final : public Model {
 public:
  Heavy() {
    heavy_ = parameter("heavy", at::zeros({kMiB}, at::kDouble));
    rest_ = make<Scaled>("rest");
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return rest_->forward(input, pass) + heavy_.exp().sin().exp().sum();
  }

 private:
  at::Tensor heavy_;
  Scaled* rest_;
};

/// What two ranks choose for Adam and an average where each device has so many bytes: weights,
/// gradients and average take 8 MiB each, the optimizer's state 16, in all 40 with ddp, 28 with
/// zero1.
Mode chosen_within(std::int64_t bytes) {
  simulated_accelerator();
  simulated::set_memory(bytes);
  Mode found{};
  play_all(2, [&](World& world) {
    auto t = training(world, 1000, DeviceKind::simulated);
    t.placement.ids = {0, 1};
    EngineOptions options;
    options.numerics.parameters = at::kDouble;
    options.device = simulated_device(world.rank);
    Recipe recipe;
    recipe.train.precision = Precision::fp64;
    recipe.parallel.mode = Mode::automatic;
    recipe.train.ema.emplace();
    recipe.optimizer.choose(Node::scalar("adam"));
    const ModelFactory heavy = [] { return std::make_unique<Heavy>(); };
    build_engine_that_fits(t, recipe,
                           {heavy,
                            [&](const Recipe& chosen) {
                              return make_engine(chosen.parallel.mode, heavy, options, world);
                            }},
                           {});
    if (world.rank == 0) found = recipe.parallel.mode;
  });
  simulated::set_memory(0);
  return found;
}

TEST(ChosenModeOnADevice, IsDdpWhereItsStepFits) {
  EXPECT_EQ(chosen_within(100 * kMiB), Mode::ddp);
}

TEST(ChosenModeOnADevice, IsZero1WhereTheStateOfDdpLeavesNoRoom) {
  EXPECT_EQ(chosen_within(43 * kMiB), Mode::zero1);
}

// 46 MiB have room for the state of ddp, and not for the 24 MiB that its step keeps besides.
TEST(ChosenModeOnADevice, IsZero1WhereTheStepOfDdpDoesNotFit) {
  EXPECT_EQ(chosen_within(46 * kMiB), Mode::zero1);
}

}  // namespace
}  // namespace ddptrain
