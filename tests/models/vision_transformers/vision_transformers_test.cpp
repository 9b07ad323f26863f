// vit and swin_t against torchvision, and what they refuse.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "models/nets.h"
#include "models/waves.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::fill_with_waves;
using test::largest_difference;
using test::make_model;
using test::noise;
using test::wave;

const json small_vit = {{"type", "vit"},    {"num_classes", 3}, {"image_size", 32},
                        {"patch_size", 8},  {"num_layers", 2},  {"num_heads", 4},
                        {"hidden_dim", 32}, {"mlp_dim", 48},    {"representation_size", 24}};

json with(json recipe, const std::string& key, const json& value) {
  recipe[key] = value;
  return recipe;
}

struct VisionPeerRun {
  json recipe;
  std::vector<std::int64_t> images;
  std::vector<double> outputs;
  double gradient_norm;  // of the sum of the outputs' squares, over all parameters
};

void expect_run(const VisionPeerRun& run) {
  const auto model = make_model(run.recipe);
  model->to(at::kCPU, at::kDouble);
  fill_with_waves(*model);
  std::int64_t numbers = 1;
  for (const auto size : run.images) numbers *= size;
  const auto output = model->forward(wave(run.images, numbers, 0.5), {.training = true});
  const auto flat = output.detach().flatten();
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(run.outputs.size()));
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    EXPECT_NEAR(flat[i].item<double>(), run.outputs[static_cast<std::size_t>(i)], 1e-9) << i;
  output.square().sum().backward();
  double squares = 0;
  for (const auto& [name, tensor] : model->named_parameters())
    squares += tensor.grad().square().sum().item<double>();
  EXPECT_NEAR(std::sqrt(squares), run.gradient_norm, 1e-9 * run.gradient_norm);
}

// Computed in double by torchvision 0.26 on torch 2.11 with the same weights and images.
TEST(VisionTransformers, ComputeWhatTorchvisionDoes) {
  expect_run({small_vit,
              {2, 3, 32, 32},
              {-0.43651609862, -0.0894615877811, 1.19099768623, 0.265481366471, -0.477554235834,
               -0.523730274412},
              84.4712178151});
  expect_run({{{"type", "swin_t"}, {"num_classes", 3}, {"stochastic_depth_prob", 0}},
              {2, 3, 72, 100},
              {-3.82027078249, 1.11683452922, 0.997723483515, -3.42554863035, 1.12735846318,
               0.647701816382},
              1194.87566283});
}

TEST(VisionTransformers, DropTheSameHoweverTheBatchIsCut) {
  const json swin = {{"type", "swin_t"}, {"num_classes", 3}, {"stochastic_depth_prob", 0.5}};
  const json pooled = {{"type", "vit"},    {"num_classes", 3}, {"image_size", 32},
                       {"patch_size", 8},  {"num_layers", 2},  {"num_heads", 4},
                       {"hidden_dim", 32}, {"mlp_dim", 48},    {"pool", "attention"},
                       {"registers", 2},   {"layer_scale", 1}};
  for (const auto& recipe : {small_vit, swin, pooled}) {
    const auto model = make_model(with(with(recipe, "dropout", 0.2), "attention_dropout", 0.2));
    fill_with_waves(*model);
    const auto x = noise({4, 3, 32, 32});
    const auto pass = [](std::int64_t row) {
      return Pass{.training = true, .seed = 42, .step = 3, .first_row = row};
    };
    const auto whole = model->forward(x, pass(10));
    const auto cut = at::cat(
        {model->forward(x.narrow(0, 0, 1), pass(10)), model->forward(x.narrow(0, 1, 3), pass(11))});
    EXPECT_LT(largest_difference(whole, cut), 1e-4);
    EXPECT_GT(largest_difference(whole, model->forward(x, pass(11))), 1e-2);
    EXPECT_GT(largest_difference(whole, model->forward(x, {})), 1e-2);
  }
}

TEST(VisionTransformers, TakeTheirSizesFromTheData) {
  ModelContext context;
  context.data.classes.resize(7);
  context.data.sample = {1, 48, 48};
  json recipe = small_vit;
  recipe.erase("num_classes");
  recipe.erase("image_size");
  const auto model = make_model(recipe, context);
  EXPECT_EQ(model->forward(noise({2, 1, 48, 48}), {}).sizes(), (at::IntArrayRef{2, 7}));
  const auto none = model->forward(noise({0, 1, 48, 48}), {.training = true});
  EXPECT_EQ(none.sizes(), (at::IntArrayRef{0, 7}));
  none.sum().backward();
}

// Registers, a second token and the pool by attention: no row of a batch is one too few.
TEST(VisionTransformers, TakeNoRowsWithEveryToken) {
  json recipe = small_vit;
  recipe.erase("representation_size");
  for (const json& more : std::vector<json>{{{"registers", 3}, {"class_positions", false}},
                                            {{"distilled", true}, {"layer_scale", 0.1}},
                                            {{"pool", "attention"}, {"activation", "gelu_tanh"}},
                                            {{"pre_norm", true}, {"activation", "quick_gelu"}}}) {
    json all = recipe;
    all.update(more);
    const auto model = make_model(all);
    fill_with_waves(*model);
    model->forward(noise({2, 3, 32, 32}), {.training = true}).sum().backward();
    for (const auto& [name, tensor] : model->named_parameters())
      EXPECT_TRUE(tensor.grad().defined()) << name;
    const auto none = model->forward(noise({0, 3, 32, 32}), {.training = true});
    EXPECT_EQ(none.sizes(), (at::IntArrayRef{0, 3}));
    none.sum().backward();
  }
}

// As fastai builds timm's vision transformers: features [rows, n], then its head without a pool.
TEST(VisionTransformers, LendTheirFeaturesToAHeadWithoutAPool) {
  json body = small_vit;
  body.erase("num_classes");
  body.erase("representation_size");
  for (const json& network :
       {body, with(body, "pool", "attention"), with(body, "distilled", true)}) {
    const auto model =
        make_model({{"type", "vision_learner"}, {"body", network}, {"num_classes", 3}});
    EXPECT_EQ(model->forward(noise({2, 3, 32, 32}), {}).sizes(), (at::IntArrayRef{2, 3}));
    EXPECT_EQ(test::find(model->state(), "1.2.weight").sizes(), (at::IntArrayRef{512, 32}));
    EXPECT_EQ(model->layer_groups().size(), 2U);
  }
  const auto swin =
      make_model({{"type", "vision_learner"}, {"body", "swin_t"}, {"num_classes", 3}});
  EXPECT_EQ(swin->forward(noise({2, 3, 64, 64}), {}).sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(test::find(swin->state(), "1.4.weight").sizes(), (at::IntArrayRef{512, 2 * 768}));
}

TEST(VisionTransformers, RefuseSizesThatDoNotFit) {
  EXPECT_THROW(make_model(with(small_vit, "image_size", 36)), Error);
  EXPECT_EQ(test::refused<Model>(with(small_vit, "num_heads", 5)),
            "num_heads: 'num_heads: 5' does not divide 'hidden_dim: 32'\n");
  EXPECT_EQ(test::refused<Model>(with(with(small_vit, "pool", "attention"), "distilled", true)),
            "distilled: 'distilled: true' needs 'pool: class_token'; it is attention\n");
  EXPECT_THROW(make_model(small_vit)->forward(noise({1, 3, 40, 40}), {}), Error);
  ModelContext wide;
  wide.data.sample = {3, 32, 64};
  EXPECT_THROW(make_model(with(small_vit, "image_size", "auto"), wide), Error);
}

}  // namespace
}  // namespace ddptrain
