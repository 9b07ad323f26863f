// Weights under the names of other libraries; tests/golden/timm_models_golden.cpp has all networks.
#include "checkpoint/published_names.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "checkpoint/weights.h"
#include "models/nets.h"
#include "support/where.h"
#include "tensors.h"

namespace ddptrain {
namespace {

using test::make_model;
using test::with;
using testing::HasSubstr;

const nlohmann::json kSmallVit = {{"type", "vit"},   {"num_classes", 3}, {"image_size", 32},
                                  {"patch_size", 8}, {"num_layers", 2},  {"num_heads", 4},
                                  {"hidden_dim", 8}, {"mlp_dim", 12}};

/// The tensors of a network with other values, as a file would have them.
std::vector<NamedTensor> another(const nlohmann::json& recipe) {
  ModelContext context;
  context.generator = test::seeded(9);
  auto tensors = make_model(recipe, context)->state();
  for (auto& named : tensors)
    if (named.tensor.is_floating_point()) named.tensor = at::rand(named.tensor.sizes());
  return tensors;
}

void replace(std::vector<NamedTensor>& tensors, const std::string& from, const std::string& to) {
  for (auto& named : tensors)
    if (const auto at = named.name.find(from); at != std::string::npos)
      named.name.replace(at, from.size(), to);
}

void expect_taken(const nlohmann::json& recipe, std::vector<NamedTensor> file,
                  const std::vector<NamedTensor>& values) {
  const auto model = make_model(recipe);
  EXPECT_EQ(take_published_names(file, *model, "none", "").from, Library::torchvision);
  EXPECT_EQ(misfit(take_weights(file, model->state(), {})), "");
  for (const auto& [name, tensor] : values)
    EXPECT_TRUE(at::equal(test::find(model->state(), name), tensor)) << name;
}

// vit_b_16-c867db91.pth has "mlp.linear_1", densenet121-a639ec97.pth "norm.1".
TEST(PublishedNames, OfOlderFilesOfTorchvisionAreKnown) {
  const auto values = another(kSmallVit);
  auto file = values;
  replace(file, "mlp.0.", "mlp.linear_1.");
  replace(file, "mlp.3.", "mlp.linear_2.");
  expect_taken(kSmallVit, file, values);
  const nlohmann::json densenet = {{"type", "densenet121"}, {"num_classes", 2}};
  const auto dense = another(densenet);
  file = dense;
  for (auto& named : file)
    if (named.name.find("denselayer") != std::string::npos)
      for (const std::string layer : {"norm1", "norm2", "conv1", "conv2"})
        if (const auto at = named.name.find(layer + "."); at != std::string::npos)
          named.name.insert(at + 4, ".");
  expect_taken(densenet, file, dense);
}

// The authors' files of Swin join patches at the end of the stage before, and hold masks.
TEST(PublishedNames, OfTheAuthorsOfSwinAreKnown) {
  const nlohmann::json swin = {{"type", "swin_t"}, {"num_classes", 3}};
  const auto values = another(swin);
  const auto model = make_model(swin);
  auto file = published_as(Library::timm, values, *model);
  for (int stage = 0; stage < 3; ++stage)
    replace(file, "layers." + std::to_string(stage + 1) + ".downsample",
            "layers." + std::to_string(stage) + ".downsample");
  replace(file, "head.fc.", "head.");
  file.push_back({"layers.0.blocks.1.attn_mask", at::ones({64, 49, 49})});
  file.push_back({"layers.0.blocks.0.attn.relative_position_index", at::ones({49, 49})});
  EXPECT_EQ(take_published_names(file, *model, "head", "").from, Library::timm);
  EXPECT_EQ(misfit(take_weights(file, model->state(), {"head"})), "");
  const std::string name = "features.2.reduction.weight";
  EXPECT_TRUE(at::equal(test::find(model->state(), name), test::find(values, name)));
}

TEST(PublishedNames, OfFilesWithoutAHeadLeaveTheModelsOwn) {
  const auto model = make_model(kSmallVit);
  auto file = published_as(Library::timm, another(kSmallVit), *model);
  std::erase_if(file, [](const auto& named) { return named.name.starts_with("head."); });
  const auto published = take_published_names(file, *model, "heads.head", "");
  EXPECT_TRUE(published.headless);
  EXPECT_EQ(misfit(take_weights(file, model->state(), {"heads.head"}, {"heads.head"})), "");
}

TEST(PublishedNames, OfABodyAreThoseOfItsNetwork) {
  auto body = kSmallVit;
  body.erase("num_classes");
  const nlohmann::json recipe = {{"type", "vision_learner"}, {"body", body}, {"num_classes", 3}};
  const auto values = another(kSmallVit);
  auto file = published_as(Library::timm, values, *make_model(kSmallVit));
  const auto model = make_model(recipe);
  EXPECT_EQ(take_published_names(file, *model, "1.6", "").from, Library::timm);
  rename(file, model->borrowed_names());
  const auto fit = take_weights(file, model->state(), {"1.6"}, model->own_parts());
  EXPECT_THAT(fit.missing, testing::IsEmpty());
  EXPECT_EQ(fit.unexpected.size(), 2U);  // the head's weight and bias
  EXPECT_TRUE(at::equal(test::find(model->state(), "0.0.encoder.ln.weight"),
                        test::find(values, "encoder.ln.weight")));
}

TEST(PublishedNames, OfABodyKeepPositionsForOtherImages) {
  auto larger = with(kSmallVit, {{"image_size", 48}});
  larger.erase("num_classes");
  const auto model = make_model({{"type", "vision_learner"}, {"body", larger}, {"num_classes", 3}});
  auto file = another(kSmallVit);
  const auto published = take_published_names(file, *model, "1.6", "");
  EXPECT_FALSE(published.from.has_value());  // our own names
  EXPECT_EQ(published.positions, "4 x 4 to 6 x 6");
  EXPECT_EQ(test::find(file, "encoder.pos_embedding").sizes(), (at::IntArrayRef{1, 37, 8}));
}

TEST(PublishedNames, AreRefusedWhereTheNetworkComputesSomethingElse) {
  const auto refused = [](const nlohmann::json& recipe, const std::string& architecture) {
    const auto model = make_model(recipe);
    auto file = published_as(Library::timm, model->state(), *model);
    take_published_names(file, *model, "none", architecture);
  };
  const nlohmann::json mobile = {{"type", "mobilenet_v3_small"}, {"num_classes", 3}};
  EXPECT_THAT([&] { refused(mobile, ""); },
              testing::ThrowsMessage<Error>(
                  "model.weights: timm's network of these weights is not this network: its batch "
                  "norms have an eps of 1e-5; write 'norm_eps: 1e-5' next to the network's type"));
  EXPECT_NO_THROW(refused(with(mobile, {{"norm_eps", 1e-5}}), "mobilenetv3_small_100.lamb_in1k"));
  const nlohmann::json clip = with(kSmallVit, {{"pre_norm", true}});
  EXPECT_THAT([&] { refused(clip, "vit_base_patch32_clip_quickgelu_224.openai"); },
              testing::ThrowsMessage<Error>(
                  "model.weights: timm's 'vit_base_patch32_clip_quickgelu_224.openai' is not this "
                  "network: its activation is x sigmoid(1.702 x); write 'activation: quick_gelu' "
                  "next to the network's type"));
  const auto quick = with(clip, {{"activation", "quick_gelu"}});
  EXPECT_NO_THROW(refused(quick, "vit_base_patch32_clip_quickgelu_224.openai"));
  EXPECT_THAT([&] { refused(quick, "vit_base_patch32_clip_224.laion2b"); },
              testing::ThrowsMessage<Error>(
                  "model.weights: timm's 'vit_base_patch32_clip_224.laion2b' is not this network: "
                  "its activation is GELU; write 'activation: gelu' next to the network's type"));
  const nlohmann::json efficient = {{"type", "efficientnet_b0"}, {"num_classes", 3}};
  EXPECT_THAT([&] { refused(efficient, "tf_efficientnet_b0.ns_jft_in1k"); },
              testing::ThrowsMessage<Error>(HasSubstr("pads images as TensorFlow does")));
}

TEST(PublishedNames, AreNotWrittenForANetworkThatTheLibraryLacks) {
  const auto weights_of = [](const nlohmann::json& recipe, Library library) {
    const auto model = make_model(recipe);
    return published_as(library, model->state(), *model);
  };
  EXPECT_THROW(weights_of({{"type", "xresnet18"}, {"num_classes", 3}}, Library::timm), Error);
  EXPECT_THROW(weights_of({{"type", "squeezenet1_1"}, {"num_classes", 3}}, Library::timm), Error);
  EXPECT_THROW(weights_of(with(kSmallVit, {{"registers", 4}}), Library::torchvision), Error);
  EXPECT_THROW(weights_of({{"type", "vision_learner"}, {"body", "resnet18"}, {"num_classes", 3}},
                          Library::timm),
               Error);
}

TEST(ArchitectureOf, IsInTheConfigBesideTheWeights) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& text) {
    std::ofstream(folder / "config.json") << text;
  };
  EXPECT_EQ(architecture_of(folder / "model.safetensors"), "");
  write(R"({"architecture": "vit_base_patch32_clip_224", "pretrained_cfg": {"tag": "laion2b"}})");
  EXPECT_EQ(architecture_of(folder / "model.safetensors"), "vit_base_patch32_clip_224.laion2b");
  EXPECT_EQ(architecture_of(folder.path()), "vit_base_patch32_clip_224.laion2b");
  write(R"({"architecture": 7})");
  EXPECT_EQ(architecture_of(folder / "model.safetensors"), "");
  write("[1, 2");
  EXPECT_EQ(architecture_of(folder / "model.safetensors"), "");
}

}  // namespace
}  // namespace ddptrain
