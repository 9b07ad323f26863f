// Engines of mixed precision on a device copy all weights at once: gradients have the bits that
// torch.autocast gives, which casts each weight where it is read.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "distributed/cast_weights.h"
#include "distributed/compare.h"
#include "distributed/replica.h"
#include "models/nets.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

ModelFactory cast_model(const json& recipe) {
  return [recipe] {
    ModelContext context;
    context.data.classes = {"a", "b", "c"};
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    if (recipe.at("type") == "gpt2") {
      context.data.cardinalities = {30};
      context.data.tokens.emplace();
    } else {
      context.data.sample = {3, 16, 16};
    }
    return make_model(recipe, context);
  };
}

Batch batch_for(const json& recipe) {
  if (recipe.at("type") != "gpt2") return samples(8, "images", {3, 16, 16});
  auto batch = samples(8);
  const auto text = at::arange(8 * 6, at::kLong).mul(7).remainder(28).add(2).view({8, 6});
  batch.inputs = {text.slice(1, 0, 5).contiguous()};
  batch.targets = {text.slice(1, 1, 6).contiguous()};
  return batch;
}

Numerics mixed(at::ScalarType type) {
  return {.autocast = type, .evaluation_autocast = type, .channels_last = true};
}

EngineOptions mixed_options(at::ScalarType type) {
  EngineOptions options;
  options.device = simulated_device();
  options.numerics = mixed(type);
  options.bucket_bytes = 4096;  // several buckets
  return options;
}

/// Gradients of one pass by autograd alone, under autocast; no bits are its own but torch's.
Tensors gradients_of_pass(Model& model, const Batch& batch, at::ScalarType type) {
  const auto device = simulated_device();
  for (const auto& named : model.named_parameters()) named.tensor.mutable_grad().reset();
  at::Tensor output;
  {
    const Autocast autocast(device.type(), type);
    output = model.run({prepared(batch.inputs[0], mixed(type), device)},
                       {.training = true, .first_row = batch.first_row});
  }
  const auto target = prepared(batch.targets[0], mixed(type), device);
  const auto loss = loss_for(batch);
  if (const auto projection = model.projection())
    loss->projected({output.to(at::kFloat).to(type), projection.weight.to(type), {}, {}}, target)
        .values.sum()
        .backward();
  else
    loss_of(*loss, output.to(at::kFloat), {target}).values.sum().backward();
  Tensors gradients;
  for (const auto& named : model.named_parameters()) gradients.push_back(named.tensor.grad());
  return gradients;
}

void add_to(Tensors& sums, const Tensors& terms) {
  if (sums.empty()) sums.resize(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i].defined()) sums[i] = sums[i].defined() ? sums[i].add(terms[i]) : terms[i];
}

/// The passes of a window are added up on each rank, and then the ranks.
Tensors by_casts(const json& recipe, const Cut& by, at::ScalarType type) {
  const auto model = placed(cast_model(recipe)(), mixed(type), simulated_device());
  const auto batch = batch_for(recipe);
  const auto micro = cut(batch.rows, by.accumulate);
  Tensors sums;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(by.world); ++rank) {
    Tensors own;
    for (std::size_t a = 0; a + 1 < micro.size(); ++a) {
      const auto piece = cut(micro[a + 1] - micro[a], by.world);
      const auto part = slice(batch, micro[a] + piece[rank], piece[rank + 1] - piece[rank]);
      add_to(own, gradients_of_pass(*model, part, type));
    }
    add_to(sums, own);
  }
  return sums;
}

void expect_gradients(Engine& engine, const Tensors& expected) {
  const auto parameters = engine.model().named_parameters();
  ASSERT_EQ(parameters.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    EXPECT_EQ(parameter.scalar_type(), at::kFloat) << name;
    ASSERT_EQ(parameter.grad().defined(), expected[i].defined()) << name;
    if (!expected[i].defined()) continue;
    EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat) << name;
    EXPECT_TRUE(at::equal(parameter.grad().cpu(), expected[i].cpu())) << name;
  }
}

class CastWeightsOnADevice : public testing::TestWithParam<json> {};

TEST_P(CastWeightsOnADevice, GiveTheGradientsOfCastsInOneProcess) {
  for (const auto type : {at::kBFloat16, at::kHalf})
    for (const std::int64_t accumulate : {1, 2}) {
      const auto engine = make_single_engine(cast_model(GetParam()), mixed_options(type));
      run_window(*engine, batch_for(GetParam()), {accumulate, 0, 1}, {});
      expect_gradients(*engine, by_casts(GetParam(), {accumulate, 0, 1}, type));
    }
}

TEST_P(CastWeightsOnADevice, GiveThemOnTwoReplicas) {
  auto options = mixed_options(at::kBFloat16);
  options.device_ids = {0, 1};
  options.replicas = 2;
  const auto engine = make_dp_engine(cast_model(GetParam()), options);
  run_window(*engine, batch_for(GetParam()), {}, {});
  expect_gradients(*engine, by_casts(GetParam(), {1, 0, 2}, at::kBFloat16));
}

TEST_P(CastWeightsOnADevice, GiveThemOnTwoRanks) {
  for (const bool views : {true, false})
    for (const std::int64_t accumulate : {1, 2})
      play_all(2, [&](World& world) {
        auto options = mixed_options(at::kBFloat16);
        options.device = simulated_device(world.rank);
        options.gradient_as_bucket_view = views;
        const auto engine = make_ddp_engine(cast_model(GetParam()), options, world);
        run_window(*engine, batch_for(GetParam()), {accumulate, world.rank, 2}, {});
        if (world.rank == 0)
          expect_gradients(*engine, by_casts(GetParam(), {accumulate, 0, 2}, at::kBFloat16));
      });
}

// Of a weight that was changed between windows, and one that trains no longer.
TEST_P(CastWeightsOnADevice, FollowTheWeights) {
  const auto engine = make_single_engine(cast_model(GetParam()), mixed_options(at::kBFloat16));
  run_window(*engine, batch_for(GetParam()), {}, {});
  const auto parameters = engine->model().named_parameters();
  for (const auto& named : parameters) named.tensor.detach().mul_(0.75);
  engine->freeze({.parameters = {parameters.back().name}});
  run_window(*engine, batch_for(GetParam()), {}, {});
  const auto model = placed(cast_model(GetParam())(), mixed(at::kBFloat16), simulated_device());
  for (const auto& named : model->named_parameters()) named.tensor.detach().mul_(0.75);
  freeze(*model, {.parameters = {parameters.back().name}});
  expect_gradients(*engine, gradients_of_pass(*model, batch_for(GetParam()), at::kBFloat16));
}

INSTANTIATE_TEST_SUITE_P(
    All, CastWeightsOnADevice,
    testing::Values(
        json{{"type", "gpt2"}, {"n_embd", 24}, {"n_layer", 3}, {"n_head", 2}, {"n_positions", 8}},
        json{{"type", "xresnet18"}, {"stem", {4, 4, 8}}, {"widen", 0.125}},
        json{{"type", "vit"},
             {"image_size", 16},
             {"patch_size", 4},
             {"num_layers", 2},
             {"num_heads", 2},
             {"hidden_dim", 16},
             {"mlp_dim", 24}}),
    [](const auto& test) { return test.param.at("type").template get<std::string>(); });

/// A layer whose weight a second module reads in another way, as tied embeddings are.
class TiedNet final : public Model {
 public:
  TiedNet() {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
    first_ = make<Linear>("first", 6, 6, generator);
    last_ = make<Linear>("last", 6, 3, generator);
    offset_ = parameter("offset", first_->bias());
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return last_->forward(first_->forward(input, pass).add(offset_), pass);
  }

 private:
  Linear *first_, *last_;
  at::Tensor offset_;
};

TEST(CastParameters, AreThoseThatEveryReaderCasts) {
  TiedNet net;
  std::map<std::string, bool> found;
  const auto parameters = net.named_parameters();
  const auto is_cast = cast_parameters(net, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) found[parameters[i].name] = is_cast[i];
  const std::map<std::string, bool> expected{
      {"offset", false}, {"first.weight", true}, {"last.weight", true}, {"last.bias", true}};
  EXPECT_EQ(found, expected);
}

// The model has its own weights again, where an error has come from a pass.
TEST(CastWeights, AreReturnedAfterAnError) {
  class Failing final : public Model {
   public:
    Failing() {
      const auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
      layer_ = make<Linear>("layer", 6, 3, generator);
    }
    at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
      layer_->forward(input, pass);
      throw std::runtime_error("out of luck");
    }

   private:
    Linear* layer_;
  };
  const auto engine =
      make_single_engine([] { return std::make_unique<Failing>(); }, mixed_options(at::kBFloat16));
  EXPECT_THROW(run_window(*engine, samples(4), {}, {}), std::runtime_error);
  for (const auto& named : engine->model().named_parameters())
    EXPECT_EQ(named.tensor.scalar_type(), at::kFloat) << named.name;
}

}  // namespace
}  // namespace ddptrain
