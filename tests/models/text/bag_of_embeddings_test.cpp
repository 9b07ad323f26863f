#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "models/texts.h"
#include "models/waves.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;

/// The model with weights that do not vanish, in double.
std::unique_ptr<Model> bag(json options, const ModelContext& context = text_context()) {
  options["type"] = "bag_of_embeddings";
  options["dim"] = 6;
  auto model = make_model(options, context);
  model->to(at::kCPU, at::kDouble);
  fill_with_waves(*model);
  return model;
}

at::Tensor vectors(const Model& model, const std::vector<std::int64_t>& numbers) {
  return find(model.named_parameters(), "embedding.weight").index_select(0, at::tensor(numbers));
}

at::Tensor classify(const Model& model, const at::Tensor& pooled) {
  const auto parameters = model.named_parameters();
  const auto weight = parameters[parameters.size() - 2].tensor, bias = parameters.back().tensor;
  return pooled.unsqueeze(0).matmul(weight.t()).add(bias);
}

TEST(BagOfEmbeddings, PoolsTheTokensOfATextAndNoPadding) {
  const at::NoGradGuard no_grad;
  for (const auto* pooling : {"mean", "sum", "max"}) {
    const auto model = bag({{"pooling", pooling}});
    const auto output = model->forward(tokens({{1, 1, 16, 22, 16}}), {});
    const auto all = vectors(*model, {16, 22, 16});
    const std::string how = pooling;
    const auto pooled = how == "mean" ? all.mean(0) : how == "sum" ? all.sum(0) : all.amax(0);
    EXPECT_LT(largest_difference(output, classify(*model, pooled)), 1e-12) << how;
    EXPECT_LT(largest_difference(output, model->forward(tokens({{16, 1, 22, 1, 16, 1, 1}}), {})),
              1e-12);
  }
}

// fastText's hash of a run: the numbers as digits to the base 116049371, into 40 buckets behind the
// 30 tokens.
TEST(BagOfEmbeddings, GivesRunsOfTokensEmbeddingsByTheirHash) {
  const at::NoGradGuard no_grad;
  const auto model = bag({{"ngrams", 3}, {"buckets", 40}});
  const auto two = [](std::int64_t a, std::int64_t b) { return 30 + (a * 116049371 + b) % 40; };
  const std::int64_t three = 30 + ((16L * 116049371 + 22) * 116049371 + 5) % 40;
  const auto all = vectors(*model, {16, 22, 5, two(16, 22), two(22, 5), three});
  const auto expected = classify(*model, all.mean(0));
  EXPECT_LT(largest_difference(model->forward(tokens({{1, 1, 16, 22, 5}}), {}), expected), 1e-12);
  EXPECT_LT(largest_difference(model->forward(tokens({{16, 22, 5, 1}}), {}), expected), 1e-12);
}

TEST(BagOfEmbeddings, HasHiddenLayersWhereAsked) {
  const auto model = bag({{"hidden", {4, 3}}, {"dropout", 0.2}});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model->named_parameters()) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("embedding.weight", "layers.1.weight", "layers.1.bias",
                                          "layers.4.weight", "layers.4.bias", "layers.7.weight",
                                          "layers.7.bias"));
}

TEST(BagOfEmbeddings, LeavesOutTheAskedShareOfTokensByTheirRow) {
  const at::NoGradGuard no_grad;
  const auto model = bag({{"token_dropout", 0.4}, {"pooling", "sum"}});
  find(model->named_parameters(), "embedding.weight").fill_(1);
  find(model->named_parameters(), "layers.0.weight").fill_(1);
  find(model->named_parameters(), "layers.0.bias").fill_(0);
  const auto text = at::full({8, 1000}, 5, at::kLong);
  const Pass whole{.training = true, .seed = 3, .step = 5, .first_row = 2};
  const auto output = model->forward(text, whole);
  // The number of tokens left in each of 8 texts, times 6 features, as if all were there.
  EXPECT_NEAR(output.select(1, 0).mean().item<double>() / 6000, 1, 0.03);
  EXPECT_NEAR(output[0][0].item<double>() * 0.6 / 6, std::round(output[0][0].item<double>() / 10),
              1e-6);
  auto cut = whole;
  cut.first_row = 5;
  EXPECT_TRUE(output.narrow(0, 3, 4).equal(model->forward(text.narrow(0, 0, 4), cut)));
  EXPECT_FALSE(output[0].equal(output[1]));
}

TEST(BagOfEmbeddings, TakesTextsWithoutTokensAndNoTexts) {
  for (const auto* pooling : {"mean", "sum", "max"}) {
    const auto model = bag({{"pooling", pooling}, {"ngrams", 2}});
    EXPECT_TRUE(model->forward(at::full({2, 3}, 1, at::kLong), {}).isfinite().all().item<bool>());
    EXPECT_EQ(model->forward(at::full({0, 3}, 1, at::kLong), {}).size(0), 0);
  }
}

TEST(BagOfEmbeddings, WantsTexts) {
  ModelContext images;
  images.data.sample = {3, 32, 32};
  try {
    bag({{"num_classes", 2}}, images);
    FAIL() << "images were taken for texts";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model: bag_of_embeddings wants texts (data: {type: text_folder})");
  }
}

}  // namespace
}  // namespace ddptrain
