// What keeps the steps of a run from being captured is named: in one line where the recipe leaves
// it open, and then training continues; in an error where it asks for graphs.
#include <ATen/ops/ones_like.h>
#include <gmock/gmock.h>

#include "base/output/log.h"
#include "on_device/graph_runs.h"
#include "train/graph/graph_work.h"
#include "train/update/decision.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

/// Reads its values on the host.
class HostLoss final : public Loss {
 public:
  LossTerms operator()(const at::Tensor& output, const at::Tensor&) const override {
    const auto values = output.sum(1);
    if (values.sum().item<double>() > 1e300) return {values.mul(2), values};
    return {values.square(), at::ones_like(values.detach())};
  }
};

std::string logged_by(const std::function<void()>& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(GraphObstacle, NamesAReadOfTheHostAndGoesOnWithoutAGraph) {
  const auto kind =
      altered(graph_run("adamw"), [](SmallTraining& t) { t.loss = std::make_unique<HostLoss>(); });
  Ended made;
  const auto log = logged_by([&] { made = made_with(Auto<bool>(), kind); });
  EXPECT_THAT(log, HasSubstr("steps are made without a graph: "));
  EXPECT_THAT(log, HasSubstr("operation not permitted when stream is capturing (item)"));
  EXPECT_EQ(made.replays, 0);
  expect_equal_bits(made, made_with(false, kind));
  EXPECT_THAT(made_with(true, kind).message, HasSubstr("steps cannot be captured into a graph: "));
}

// Under -v, and in each run's log file.
TEST(GraphCapture, IsLogged) {
  log::open(log::Level::verbose, 0, "");
  auto kind = graph_run(kMomentum);
  EXPECT_THAT(logged_by([&] { made_with(true, kind); }),
              HasSubstr("step 4 is captured as two graphs (capture 1)\n"));
  kind.single = true;
  EXPECT_THAT(logged_by([&] { made_with(true, kind); }),
              HasSubstr("step 4 is captured as one graph (capture 1)\n"));
  log::open(log::Level::normal, 0, "");
}

class HostClip final : public Clip {
 public:
  double operator()(const std::vector<at::Tensor>&, double) const override { return 0; }
  at::Tensor operator()(const std::vector<at::Tensor>& gradients, const at::Tensor& scale,
                        at::Tensor&) const override {
    for (const auto& gradient : gradients) gradient.mul_(scale.item<double>());
    return {};
  }
};

TEST(GraphObstacle, NamesAReadAfterThePasses) {
  const auto kind = altered(graph_run(kMomentum),
                            [](SmallTraining& t) { t.clip = std::make_unique<HostClip>(); });
  Ended made;
  const auto log = logged_by([&] { made = made_with(Auto<bool>(), kind); });
  EXPECT_THAT(log, HasSubstr("the ends of steps are made without a graph: "));
  EXPECT_EQ(made.replays, 15) << "of the passes";
  expect_equal_bits(made, made_with(false, kind));
}

// In a step that would be one graph: it is made of two, as far as they can be captured.
TEST(GraphObstacle, NamesAReadInAWholeStep) {
  auto kind = altered(graph_run(kMomentum),
                      [](SmallTraining& t) { t.clip = std::make_unique<HostClip>(); });
  kind.single = true;
  Ended made;
  const auto log = logged_by([&] { made = made_with(Auto<bool>(), kind); });
  EXPECT_THAT(log, HasSubstr("a step is not captured as one graph: "));
  EXPECT_THAT(log, HasSubstr("the ends of steps are made without a graph: "));
  EXPECT_EQ(made.replays, 15) << "of the passes";
  expect_equal_bits(made, made_with(false, kind));
}

TEST(GraphObstacle, NamesReplicas) {
  auto kind = graph_run(kMomentum);
  kind.run.mode = Mode::dp;
  kind.run.replicas = 2;
  kind.alter = [](SmallTraining& t) { t.placement.ids = {0, 1}; };
  const std::string why = "'parallel.mode: dp' computes in a thread for each device";
  Ended made;
  EXPECT_THAT(logged_by([&] { made = made_with(Auto<bool>(), kind); }),
              HasSubstr("steps are made without a graph: " + why));
  expect_equal_bits(made, made_with(false, kind));
  auto world = single_world();
  auto t = graph_training(world, kind, true);
  try {
    Decision decision(simulated_device(), {});
    GraphWork work(t, decision);
    ADD_FAILURE() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    EXPECT_THAT(error.what(), HasSubstr(why + "; 'train.graph: auto' trains without one"));
  }
}

TEST(GraphObstacle, NamesSeveralPassesAStep) {
  auto kind = graph_run(kMomentum);
  kind.run.accumulate = 2;
  Ended made;
  EXPECT_THAT(logged_by([&] { made = made_with(Auto<bool>(), kind); }),
              HasSubstr("without a graph: a step makes 2 passes (batch.accumulate)"));
  expect_equal_bits(made, made_with(false, kind));
}

TEST(GraphObstacle, NamesRanksThatMeetOnTheHost) {
  play_all(2, [&](World& world) {
    auto kind = graph_run(kMomentum);
    kind.run.mode = Mode::ddp;
    auto t = graph_training(world, kind, Auto<bool>());
    EXPECT_EQ(
        t.engine->capture().obstacle(),
        "collectives of ranks that meet in the host's memory, as Gloo's, are no work of a device");
  });
}

TEST(GraphObstacle, NamesParametersThatMayBeUnused) {
  auto world = single_world();
  EngineOptions options;
  options.device = simulated_device();
  options.find_unused_parameters = true;
  const auto engine = make_engine(Mode::ddp, small_model({}), options, world);
  EXPECT_EQ(engine->capture().obstacle(),
            "'parallel.ddp.find_unused_parameters' may use others in each step");
}

TEST(GraphObstacle, NamesMemoryThatWouldNotDo) {
  const auto kind = graph_run(kMomentum);
  const auto eager = made_with(false, kind);
  simulated::set_memory(simulated_accelerator().memory(0).peak_reserved * 19 / 10);
  Ended made;
  const auto log = logged_by([&] { made = made_with(Auto<bool>(), kind); });
  simulated::set_memory(0);
  EXPECT_THAT(log,
              HasSubstr("without a graph: a graph takes as much of the device's memory again"));
  EXPECT_EQ(made.replays, 0);
  expect_equal_bits(made, eager);
}

}  // namespace
}  // namespace ddptrain
