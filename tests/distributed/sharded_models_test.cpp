// Models of the catalog with blocks make the same steps in zero2 and fsdp as in one process: batch
// norms over all rows, states of streams, in double; and those of ddp to the last bit where
// autocast casts.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "compare.h"
#include "models/blocks.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

using Weights = std::map<std::string, at::Tensor>;

bool reads_tokens(const json& recipe) {
  return recipe.at("type") == "awd_lstm_lm" || recipe.at("type") == "gpt2";
}

ModelFactory blocky_model(const json& recipe) {
  return [recipe] {
    ModelContext context;
    context.data.classes = {"a", "b", "c"};
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    if (reads_tokens(recipe)) {
      context.data.cardinalities = {30};
      context.data.padding = 1;
      context.data.tokens.emplace().streams = recipe.at("type") == "awd_lstm_lm";
    } else {
      context.data.sample = {3, 48, 48};
    }
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

/// Pieces of five tokens of 7 streams, and the tokens that follow.
Batch streams(std::int64_t piece) {
  auto batch = samples(7);
  const auto text = at::arange(7 * 40, at::kLong).mul(11).add(3).remainder(28).add(2).view({7, 40});
  batch.inputs = {text.slice(1, 5 * piece, 5 * piece + 5).contiguous()};
  batch.targets = {text.slice(1, 5 * piece + 1, 5 * piece + 6).contiguous()};
  return batch;
}

std::vector<Batch> batches_for(const json& recipe) {
  if (reads_tokens(recipe)) return {streams(0), streams(1), streams(2)};
  return {samples(8, "first", {3, 48, 48}), samples(7, "second", {3, 48, 48})};
}

/// All weights and buffers after a step of gradient descent with each batch.
Weights after_steps(Engine& engine, const std::vector<Batch>& batches, const Cut& by) {
  MicroStep at;
  at.seed = 11;
  at.nominal = 8;
  for (const auto& batch : batches) {
    const auto totals = run_window(engine, batch, by, at);
    for (const auto& [name, master] : engine.masters())
      if (master.grad().defined())
        master.detach().add_(master.grad(), -0.02 * at.nominal / totals.weight);
    engine.parameters_changed();
    ++at.step;
  }
  Weights weights;
  for (const auto& [name, tensor] : engine.model().state())
    weights.emplace(name, engine.whole(name).clone());
  return weights;
}

class ShardedModels : public testing::TestWithParam<json> {};

TEST_P(ShardedModels, MakeTheStepsOfOneProcess) {
  const auto model = blocky_model(GetParam());
  ASSERT_FALSE(blocks_in(*model()).empty());
  const auto batches = batches_for(GetParam());
  auto options = in_double();
  options.sync_bn = true;
  const auto single = make_single_engine(model, options);
  const auto expected = after_steps(*single, batches, {1, 0, 1});
  double size = 0;  // of all tensors together
  for (const auto& [name, tensor] : expected)
    size = std::hypot(size, length(tensor.to(at::kDouble)));
  for (auto* make : {make_zero2_engine, make_fsdp_engine})
    play_all(2, [&](World& world) {
      const auto engine = make(model, options, world);
      const auto found = after_steps(*engine, batches, {1, world.rank, 2});
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, tensor] : found)
        EXPECT_LE(length(tensor.to(at::kDouble) - expected.at(name)), 1e-12 * size) << name;
    });
}

// An evaluation of fewer batches than ranks may come before any other pass: the blocks of a model
// run in the order in which it has them.
TEST_P(ShardedModels, FollowAPassBeforeTheirFirst) {
  const auto model = blocky_model(GetParam());
  const auto batch = batches_for(GetParam()).front();
  const auto expected = make_single_engine(model, in_double())->evaluate(batch);
  for (auto* make : {make_zero2_engine, make_fsdp_engine})
    play_all(2, [&](World& world) {
      const auto engine = make(model, in_double(), world);
      if (world.rank == 1) return engine->follow();
      const auto found = engine->evaluate(batch);
      EXPECT_LE(length(found - expected), 1e-12 * length(expected));
    });
}

INSTANTIATE_TEST_SUITE_P(
    All, ShardedModels,
    testing::Values(json{{"type", "xresnet18"}, {"widen", 0.25}}, json{{"type", "efficientnet_b0"}},
                    json{{"type", "mobilenet_v2"}, {"width_mult", 0.25}},
                    json{{"type", "mobilenet_v3_small"}, {"width_mult", 0.25}},
                    json{{"type", "regnet_y_400mf"}}, json{{"type", "densenet121"}},
                    json{{"type", "awd_lstm_lm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 2}}),
    [](const auto& test) { return test.param.at("type").template get<std::string>(); });

class AutocastModels : public testing::TestWithParam<json> {};

/// Weights after the steps of two ranks, whose sums are in order of ranks.
Weights after_ordered_steps(const json& recipe, decltype(make_fsdp_engine)* make,
                            std::optional<at::ScalarType> evaluation) {
  Weights weights;
  play_all(2, [&](World& world) {
    world.gradients = make_ordered_group(std::move(world.gradients));
    EngineOptions options;
    options.sync_bn = true;
    options.numerics.autocast = at::kBFloat16;
    options.numerics.evaluation_autocast = evaluation;
    options.numerics.channels_last = true;
    const auto engine = make(blocky_model(recipe), options, world);
    const auto found = after_steps(*engine, batches_for(recipe), {1, world.rank, 2});
    if (world.rank == 0) weights = found;
  });
  return weights;
}

TEST_P(AutocastModels, MakeTheStepsOfDdpToTheLastBit) {
  const auto expected = after_ordered_steps(GetParam(), make_ddp_engine, at::kBFloat16);
  for (auto* make : {make_zero2_engine, make_fsdp_engine})
    for (const auto evaluation : {std::optional(at::kBFloat16), std::optional<at::ScalarType>()}) {
      const auto found = after_ordered_steps(GetParam(), make, evaluation);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, tensor] : found)
        EXPECT_TRUE(at::equal(tensor, expected.at(name))) << name;
    }
}

// What another type of evaluation reads is not rounded.
TEST_P(AutocastModels, SendWhatAutocastCastsInItsType) {
  EngineOptions options;
  options.numerics.autocast = options.numerics.evaluation_autocast = at::kBFloat16;
  const auto types = [&](const EngineOptions& given) {
    auto world = single_world();
    const auto engine = make_fsdp_engine(blocky_model(GetParam()), given, world);
    std::map<at::ScalarType, std::int64_t> elements;
    for (const auto& named : engine->model().named_parameters())
      elements[named.tensor.scalar_type()] += named.tensor.numel();
    for (const auto& piece : engine->masters()) EXPECT_EQ(piece.tensor.scalar_type(), at::kFloat);
    return elements;
  };
  EXPECT_GT(types(options)[at::kBFloat16], 0);
  options.numerics.evaluation_autocast = {};
  EXPECT_EQ(types(options)[at::kBFloat16], 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, AutocastModels,
    testing::Values(json{{"type", "gpt2"}, {"n_embd", 24}, {"n_layer", 3}, {"n_head", 2}},
                    json{{"type", "xresnet18"}, {"widen", 0.25}},
                    json{{"type", "vit"},
                         {"image_size", 48},
                         {"patch_size", 8},
                         {"num_layers", 2},
                         {"num_heads", 2},
                         {"hidden_dim", 16},
                         {"mlp_dim", 24}}),
    [](const auto& test) { return test.param.at("type").template get<std::string>(); });

}  // namespace
}  // namespace ddptrain
