// Engines when what trains changes between steps.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.h"

namespace ddptrain {
namespace {

using namespace test;

const Frozen kFirstLayer{{"first", "offset"}, false};

/// Two steps with the first layer frozen, two with everything, two frozen again.
Tensors in_stages(Engine& engine, const Cut& by) {
  Tensors all;
  for (const auto& frozen : {kFirstLayer, Frozen{}, kFirstLayer}) {
    engine.freeze(frozen);
    const auto gradients = descend(engine, {samples(7, "a"), samples(3, "b")}, by);
    all.insert(all.end(), gradients.begin(), gradients.end());
  }
  return all;
}

TEST(Freeze, EveryEngineGivesTheSameGradients) {
  const auto single = make_single_engine(factory(), in_double());
  const auto expected = in_stages(*single, {});
  EXPECT_FALSE(expected[0].defined());  // 'first', frozen
  EXPECT_TRUE(expected[2].defined());   // 'second'
  EXPECT_TRUE(expected[6].defined());   // 'first', thawed

  auto two = in_double();
  two.replicas = 2;
  expect_same(in_stages(*make_dp_engine(factory(), two), {}), expected);
  for (const int ranks : {1, 2, 4})
    for (const bool views : {true, false})
      play_all(ranks, [&](World& world) {
        auto options = in_double();
        options.gradient_as_bucket_view = views;
        const auto engine = make_ddp_engine(factory(), options, world);
        expect_same(in_stages(*engine, {2, world.rank, ranks}), expected);
      });
}

TEST(Freeze, AFrozenParameterStaysAsItIs) {
  const auto engine = make_single_engine(factory(), in_double());
  const auto before = engine->model().named_parameters()[0].tensor.detach().clone();
  engine->freeze(kFirstLayer);
  descend(*engine, {samples(4)}, {});
  EXPECT_TRUE(at::equal(engine->model().named_parameters()[0].tensor, before));
}

TEST(Freeze, AStaticGraphMayChangeWithTheStage) {
  play_all(2, [&](World& world) {
    auto options = in_double();
    options.static_graph = true;
    const auto engine = make_ddp_engine(factory(), options, world);
    EXPECT_NO_THROW(in_stages(*engine, {1, world.rank, 2}));
  });
}

}  // namespace
}  // namespace ddptrain
