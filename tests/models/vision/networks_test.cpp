// What all networks have in common, and the small ones.
#include <ATen/autocast_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/layers/convolution.h"
#include "models/layers/pooling.h"
#include "models/nets.h"
#include "models/sizes.h"
#include "models/vision/body.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::largest_difference;
using test::make_model;
using test::noise;
using test::seeded;

std::vector<std::string> names(const Module& model) {
  std::vector<std::string> all;
  for (const auto& t : model.named_parameters()) all.push_back(t.name);
  return all;
}

// Every architecture at its smallest: a batch, a batch of 0 rows, gradients for all parameters.
class Networks : public testing::TestWithParam<std::string> {};

TEST_P(Networks, TrainsInChannelsLastAndAcceptsNoRows) {
  const auto model = make_model({{"type", GetParam()}, {"num_classes", 5}});
  model->channels_last();
  const auto x = noise({2, 3, 32, 32}).contiguous(at::MemoryFormat::ChannelsLast);
  model->forward(x, {.training = true}).sum().backward();
  for (const auto& [name, tensor] : model->named_parameters()) EXPECT_TRUE(tensor.grad().defined());
  const auto none = model->forward(x.narrow(0, 0, 0), {.training = true});
  EXPECT_EQ(none.sizes(), (at::IntArrayRef{0, 5}));
  none.sum().backward();
}

INSTANTIATE_TEST_SUITE_P(Small, Networks, testing::Values("resnet18", "xresnet18", "xse_resnext18"),
                         [](const auto& network) { return network.param; });

INSTANTIATE_TEST_SUITE_P(Plain, Networks, testing::Values("densenet121", "squeezenet1_1"),
                         [](const auto& network) { return network.param; });

// The least sizes that torchvision's weights name (min_size).
TEST(Images, MayNotBeHalvedToNothing) {
  const std::vector<std::pair<std::string, std::int64_t>> least = {{"alexnet", 63},
                                                                   {"convnext_tiny", 32},
                                                                   {"densenet121", 29},
                                                                   {"squeezenet1_1", 17},
                                                                   {"vgg11", 32}};
  for (const auto& [name, size] : least) {
    ModelContext context;
    context.data.classes.resize(3);
    context.data.sample = {1, size, size};
    const json recipe = {{"type", name}};
    const auto model = make_model(recipe, context);
    EXPECT_EQ(model->forward(noise({1, 1, size, size}), {}).sizes(), (at::IntArrayRef{1, 3}));
    context.data.sample[2] -= 1;
    EXPECT_THROW(make_model(recipe, context), Error) << name;
  }
}

TEST(DenseNet, DropsWhatItsLayersMakeInTraining) {
  const auto model = make_model({{"type", "densenet121"}, {"num_classes", 3}, {"drop_rate", 0.5}});
  const auto x = noise({2, 3, 32, 32});
  const auto first = model->forward(x, {.training = true});
  EXPECT_EQ(largest_difference(model->forward(x, {.training = true}), first), 0);
  EXPECT_GT(largest_difference(model->forward(x, {.training = true, .step = 1}), first), 0);
}

INSTANTIATE_TEST_SUITE_P(Mobile, Networks,
                         testing::Values("mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0",
                                         "regnet_y_400mf", "convnext_tiny"),
                         [](const auto& network) { return network.param; });

// Rounded down to less than nine tenths: one multiple more.
TEST(WholeChannels, AreTheNearestMultipleButNotMuchLess) {
  EXPECT_EQ(whole_channels(30, 8), 32);
  EXPECT_EQ(whole_channels(27, 8), 24 + 8);  // 24 < 24.3
  EXPECT_EQ(whole_channels(26, 8), 24);
  EXPECT_EQ(whole_channels(3, 8), 8);
}

TEST(MobileNets, TakeAWidth) {
  const auto v2 = make_model({{"type", "mobilenet_v2"}, {"num_classes", 3}, {"width_mult", 0.5}});
  EXPECT_EQ(test::find(v2->state(), "features.0.0.weight").size(0), 16);
  EXPECT_EQ(test::find(v2->state(), "classifier.1.weight").sizes(), (at::IntArrayRef{3, 1280}));
  const auto v3 =
      make_model({{"type", "mobilenet_v3_small"}, {"num_classes", 3}, {"width_mult", 0.5}});
  EXPECT_EQ(test::find(v3->state(), "features.0.0.weight").size(0), 8);
  EXPECT_EQ(test::find(v3->state(), "classifier.3.weight").sizes(), (at::IntArrayRef{3, 512}));
}

TEST(XResNet, TakesEveryPoolAndWidth) {
  for (const auto* pool : {"average", "max", "max_blur"}) {
    const auto model = make_model({{"type", "xresnet18"},
                                   {"num_classes", 3},
                                   {"pool", pool},
                                   {"in_channels", 1},
                                   {"stem", {8, 8, 16}},
                                   {"widen", 0.5},
                                   {"self_attention", true},
                                   {"activation", "mish"}});
    EXPECT_EQ(model->forward(noise({1, 1, 34, 34}), {}).sizes(), (at::IntArrayRef{1, 3}));
  }
}

// As a network whose every nn.MaxPool2d is replaced by kornia's MaxBlurPool2D: one layer behind the
// three convolutions differs, no tensor does.
TEST(XResNet, BlursThePoolOfItsStem) {
  const json recipe{{"type", "xresnet18"}, {"num_classes", 3}};
  const auto plain = make_model(recipe);
  const auto blurred = make_model(test::with(recipe, {{"stem_pool", "max_blur"}}));
  EXPECT_EQ(names(*blurred), names(*plain));
  const auto x = noise({2, 3, 64, 64});
  const auto stem = plain->take_body();
  const auto body = blurred->take_body();
  auto features = x;
  for (std::size_t i = 0; i < 3; ++i) features = stem.layers->steps()[i]->forward(features, {});
  const auto pooled = body.layers->steps()[3]->forward(features, {});
  EXPECT_EQ(pooled.sizes(), stem.layers->steps()[3]->forward(features, {}).sizes());
  EXPECT_EQ(largest_difference(pooled, MaxBlurPool().forward(features, {})), 0);
}

// Under autocast the maxima are in bfloat16; 1/16 of a corner's and 4/16 of the middle's are exact.
TEST(MaxBlurPool, TakesBfloat16) {
  const auto ones = at::ones({1, 2, 5, 5}, at::kBFloat16);
  const auto blurred = MaxBlurPool().forward(ones, {});
  EXPECT_EQ(blurred.scalar_type(), at::kBFloat16);
  EXPECT_EQ(blurred[0][1][1][1].item<float>(), 1);
  EXPECT_EQ(blurred[0][1][0][0].item<float>(), 0.5625);
}

TEST(Classes, ComeFromTheDataOrTheRecipe) {
  EXPECT_THROW(make_model({{"type", "resnet18"}}), Error);
  ModelContext context;
  context.data.classes.resize(7);
  context.data.sample = {1, 28, 28};
  const auto model = make_model({{"type", "mnist_net"}}, context);
  EXPECT_EQ(model->forward(noise({2, 1, 28, 28}), {}).sizes(), (at::IntArrayRef{2, 7}));
}

TEST(MnistNet, HasTheExamplesNames) {
  EXPECT_EQ(names(*make_model({{"type", "mnist_net"}, {"num_classes", 10}})),
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
}

TEST(MnistNet, EndsInLogProbabilitiesWhenAsked) {
  const auto model =
      make_model({{"type", "mnist_net"}, {"num_classes", 10}, {"log_softmax", true}});
  const auto sums = model->forward(noise({3, 1, 28, 28}), {}).exp().sum(1);
  EXPECT_LT(largest_difference(sums, at::ones({3})), 1e-5);
}

TEST(Mlp, FlattensWhatItGets) {
  ModelContext context;
  context.data.classes.resize(4);
  context.data.sample = {2, 3};
  const auto model = make_model(
      {{"type", "mlp"}, {"hidden", {8, 6}}, {"batch_norm", true}, {"dropout", 0.1}}, context);
  EXPECT_EQ(names(*model).front(), "1.weight");
  EXPECT_EQ(model->forward(noise({5, 2, 3}), {.training = true}).sizes(), (at::IntArrayRef{5, 4}));
}

TEST(Sequential, NumbersItsLayersAndFindsTheirSizes) {
  const json conv = {{"type", "conv"}, {"out", 6}, {"padding", 1}};
  const auto model = make_model({{"type", "sequential"},
                                 {"input", {3, 8, 8}},
                                 {"layers",
                                  {conv, "batch_norm", "relu", "max_pool", "adaptive_avg_pool",
                                   "flatten", json{{"type", "linear"}, {"out", 5}}}}});
  EXPECT_EQ(names(*model), (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias",
                                                     "6.weight", "6.bias"}));
  EXPECT_EQ(model->forward(noise({2, 3, 8, 8}), {}).sizes(), (at::IntArrayRef{2, 5}));
}

TEST(Sequential, RefusesLayersThatDoNotFit) {
  const json linear = {{"type", "linear"}, {"out", 5}};
  EXPECT_THROW(make_model({{"type", "sequential"}, {"input", {3, 8, 8}}, {"layers", {linear}}}),
               Error);
  const json wide = {{"type", "conv"}, {"out", 5}, {"kernel", 9}};
  EXPECT_THROW(make_model({{"type", "sequential"}, {"input", {3, 8, 8}}, {"layers", {wide}}}),
               Error);
  EXPECT_THROW(make_model({{"type", "sequential"}, {"layers", {linear}}}), Error);
}

TEST(MaxBlurPool, BlursTheMaximaOfPairs) {
  MaxBlurPool pool;
  const auto x = at::arange(16, at::kFloat).view({1, 1, 4, 4});
  // Maxima of 2x2 windows at every place: 5 6 7 / 9 10 11 / 13 14 15, borders zero.
  const auto y = pool.forward(x, {});
  EXPECT_EQ(y.sizes(), (at::IntArrayRef{1, 1, 2, 2}));
  EXPECT_FLOAT_EQ(y[0][0][0][0].item<float>(), (4 * 5 + 2 * 6 + 2 * 9 + 10) / 16.F);
  EXPECT_FLOAT_EQ(y[0][0][1][1].item<float>(), (4 * 15 + 2 * 14 + 2 * 11 + 10) / 16.F);
  EXPECT_EQ(pool.forward(noise({1, 2, 5, 7}), {}).sizes(), (at::IntArrayRef{1, 2, 3, 4}));
}

// Sum and norm of tensors of a network made with 10 classes after torch.manual_seed(42), by
// torchvision 0.26 and fastai 2.8.12 on torch 2.11.
struct FirstWeights {
  json recipe;
  std::string name;
  double sum, norm;
};

TEST(FirstWeights, AreThoseOfThePeers) {
  const json with_attention = {
      {"type", "xresnet50"}, {"self_attention", true}, {"activation", "mish"}};
  const json small_vit = {{"type", "vit"},   {"image_size", 32},         {"patch_size", 8},
                          {"num_layers", 2}, {"num_heads", 4},           {"hidden_dim", 32},
                          {"mlp_dim", 48},   {"representation_size", 24}};
  const std::vector<FirstWeights> cases = {
      {{{"type", "resnet18"}}, "conv1.weight", 1.071617, 2.413884},
      {{{"type", "resnet18"}}, "fc.weight", -2.453563, 1.831306},
      {{{"type", "resnet18"}}, "fc.bias", -0.109403, 0.075606},
      {{{"type", "resnext50_32x4d"}}, "layer4.2.conv3.weight", -4.914383, 45.242659},
      {{{"type", "mobilenet_v2"}}, "features.18.0.weight", 16.843913, 25.293399},
      {{{"type", "mobilenet_v2"}}, "classifier.1.weight", 1.674708, 1.143692},
      {{{"type", "mobilenet_v3_small"}}, "features.4.block.2.fc2.weight", -9.799351, 6.833538},
      {{{"type", "mobilenet_v3_small"}}, "classifier.3.weight", -1.430372, 1.010381},
      {{{"type", "efficientnet_b0"}}, "features.7.0.block.3.0.weight", 11.788956, 48.040000},
      {{{"type", "efficientnet_b0"}}, "classifier.1.weight", 44.496172, 20.569591},
      {{{"type", "regnet_y_400mf"}},
       "trunk_output.block4.block4-5.f.se.fc2.bias",
       -0.794387,
       1.167585},
      {{{"type", "regnet_y_400mf"}}, "fc.weight", 0.236240, 0.664419},
      {{{"type", "convnext_tiny"}}, "features.7.2.block.5.weight", 5.865286, 30.730102},
      {{{"type", "convnext_tiny"}}, "classifier.2.weight", 0.254345, 1.768752},
      {with_attention, "0.0.weight", 6.851430, 7.603737},
      {with_attention, "4.2.convpath.3.conv.weight_orig", 28.536382, 22.591565},
      {with_attention, "4.2.convpath.3.conv.weight_u", -0.307739, 1.000000},
      {with_attention, "11.weight", 0.374906, 4.496860},
      {{{"type", "xse_resnet34"}}, "7.2.convpath.2.layers.2.0.weight", 16.250591, 32.080195},
      {{{"type", "xse_resnet34"}}, "11.weight", -5.597900, 4.444745},
      {small_vit, "conv_proj.weight", -0.924222, 5.680229},
      {small_vit, "encoder.pos_embedding", 0.070519, 0.466236},
      {small_vit, "encoder.layers.encoder_layer_1.self_attention.in_proj_weight", -11.122638,
       6.927495},
      {small_vit, "encoder.layers.encoder_layer_1.self_attention.out_proj.weight", -1.812411,
       3.277169},
      {small_vit, "encoder.layers.encoder_layer_1.mlp.3.weight", 4.618970, 6.191499},
      {small_vit, "heads.pre_logits.weight", 2.728020, 4.853879},
      {{{"type", "swin_t"}}, "features.0.0.weight", -6.934806, 5.619874},
      {{{"type", "swin_t"}}, "features.1.1.attn.relative_position_bias_table", -0.207629, 0.467374},
      {{{"type", "swin_t"}}, "features.2.reduction.weight", 1.755408, 5.440096},
      {{{"type", "swin_t"}}, "features.7.1.mlp.3.weight", 26.481567, 30.758773},
      {{{"type", "swin_t"}}, "head.weight", 0.394427, 1.775553},
  };
  for (const auto& c : cases) {
    json recipe = c.recipe;
    recipe["num_classes"] = 10;
    ModelContext context;
    context.generator = seeded(42);
    const auto tensor = test::find(make_model(recipe, context)->state(), c.name).to(at::kDouble);
    EXPECT_NEAR(tensor.sum().item<double>(), c.sum, 1e-5) << recipe << c.name;
    EXPECT_NEAR(tensor.norm().item<double>(), c.norm, 1e-5) << recipe << c.name;
  }
}

// Channels-last inputs stay so, and single precision under bf16 autocast is near full precision.
TEST(XResNet, RunsUnderAutocast) {
  const auto model =
      make_model({{"type", "xresnet18"}, {"num_classes", 4}, {"self_attention", true}});
  const auto x = noise({4, 3, 32, 32});
  const auto full = model->forward(x, {.training = true});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const auto half = model->forward(x, {.training = true});
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(half.scalar_type(), at::kBFloat16);
  EXPECT_LT(largest_difference(half.to(at::kFloat), full), 0.2);
  half.sum().backward();
  for (const auto& [name, tensor] : model->named_parameters())
    EXPECT_EQ(tensor.grad().scalar_type(), at::kFloat) << name;
}

// torch.manual_seed(42); Linear(4, 3); Conv2d(2, 2, 3): tests/golden/rng.json, layer_init/s42.
TEST(Layers, DrawTheirFirstWeightsAsTorchDoes) {
  const auto generator = seeded(42);
  const Linear linear(4, 3, generator);
  EXPECT_NEAR(linear.weight()[0][0].item<double>(), 0.38226926, 1e-7);
  EXPECT_NEAR(linear.bias()[2].item<double>(), 0.24109405, 1e-7);
  const Convolution convolution({.in = 2, .out = 2, .kernel = 3, .bias = true}, generator);
  EXPECT_NEAR(convolution.weight().flatten()[0].item<double>(), -0.03327904, 1e-7);
  EXPECT_NEAR(convolution.weight().flatten()[3].item<double>(), -0.110035226, 1e-7);
}

TEST(Networks, OfPicturesAndNumbersRefuseTexts) {
  ModelContext texts;
  texts.data.classes.resize(2);
  texts.data.cardinalities = {1000};
  texts.data.padding = 1;
  for (const nlohmann::json& recipe :
       {nlohmann::json{{"type", "resnet18"}}, nlohmann::json{{"type", "mlp"}},
        nlohmann::json{{"type", "sequential"}, {"layers", {"flatten"}}},
        nlohmann::json{{"type", "vision_learner"}, {"body", "resnet18"}}})
    EXPECT_THAT([&] { make_model(recipe, texts); },
                testing::ThrowsMessage<Error>(
                    "model: this model takes numbers, and a text is a row of words; write 'model: "
                    "awd_lstm', bag_of_embeddings or text_transformer"))
        << recipe;
}

TEST(XResNets, HaveChannelsDownToTheLeastFactor) {
  const std::vector<std::pair<std::string, double>> least{{"xresnet18", 1.0 / 64},
                                                          {"xse_resnet18", 0.25}};
  for (const auto& [name, widen] : least) {
    SCOPED_TRACE(name);
    const auto model = make_model({{"type", name}, {"num_classes", 5}, {"widen", widen}});
    EXPECT_EQ(model->forward(noise({2, 3, 32, 32}), {.training = true}).sizes(),
              (at::IntArrayRef{2, 5}));
  }
}

// Its first stage has 16 channels then, and 32 groups.
TEST(XResNets, AreRefusedWhereGroupsDoNotDivideTheirChannels) {
  EXPECT_THROW(make_model({{"type", "xse_resnext18"}, {"num_classes", 5}, {"widen", 0.25}}), Error);
}

}  // namespace
}  // namespace ddptrain
