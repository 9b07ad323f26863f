#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "models/texts.h"
#include "models/waves.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;

const json tiny = {{"type", "text_transformer"},
                   {"dim", 12},
                   {"num_heads", 3},
                   {"mlp_dim", 16},
                   {"max_len", 8},
                   {"dropout", 0}};

std::unique_ptr<Model> transformer(const json& options,
                                   const ModelContext& context = text_context()) {
  auto model = make_model(with(tiny, options), context);
  model->to(at::kCPU, at::kDouble);
  fill_with_waves(*model);
  return model;
}

void expect_outputs(const at::Tensor& output, const std::vector<double>& expected) {
  const auto actual = numbers_of(output);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-10) << i;
}

double gradient_norm(const Model& model, const at::Tensor& output) {
  output.square().sum().backward();
  double sum = 0;
  for (const auto& [name, tensor] : model.named_parameters())
    sum += tensor.grad().square().sum().item<double>();
  return std::sqrt(sum);
}

// torch 2.11 in double: Embedding(30, 12) plus positions, TransformerEncoder of two
// TransformerEncoderLayer(12, 3, 16, activation='gelu', norm_first=True) and a LayerNorm, Linear;
// weights as waves; each text alone, without padding, its first 8 tokens; mean over them.
TEST(TextTransformer, IsTorchsEncoderOnEachTextAlone) {
  for (const bool drops : {false, true}) {  // the way with dropout, which is 0 here
    const auto model = transformer(json::object());
    const auto output = model->forward(three_texts(), {.training = drops});
    expect_outputs(output, {0.2984699651179501, 0.3970742723746338, 0.31635746543514354,
                            0.2878616811609216, 0.14257624124408386, 0.10942005901501617});
    EXPECT_NEAR(gradient_norm(*model, output), 14.535399409489232, 1e-8);
  }
}

TEST(TextTransformer, TakesTheFirstTokenForTheText) {
  const auto model = transformer({{"pooling", "first"}});
  expect_outputs(model->forward(three_texts(), {}),
                 {0.38670144622038094, -0.014176140611283417, 0.34148561905942276,
                  0.7998919684235676, 0.3888116211650112, -0.6666794652928754});
}

TEST(TextTransformer, KnowsPlacesBySines) {
  const auto model = transformer({{"positions", "sinusoidal"}});
  const auto output = model->forward(three_texts(), {});
  expect_outputs(output, {1.4056571063319045, -0.6431122842326333, 1.3758993221230975,
                          -0.3244430640192724, -0.10674385228071077, -0.3406234656744892});
  EXPECT_NEAR(gradient_norm(*model, output), 29.6651090874511, 1e-8);
}

TEST(TextTransformer, DropsAttentionAndBranchesByTheRow) {
  const at::NoGradGuard no_grad;
  const auto model = transformer({{"dropout", 0.3}});
  const Pass whole{.training = true, .seed = 3, .step = 5, .first_row = 2};
  auto cut = whole;
  cut.first_row = 3;
  const auto output = model->forward(three_texts(), whole);
  EXPECT_LT(largest_difference(output.narrow(0, 1, 2),
                               model->forward(three_texts().narrow(0, 1, 2), cut)),
            1e-12);
  EXPECT_GT(largest_difference(output, model->forward(three_texts(), {})), 1e-3);
}

TEST(TextTransformer, DoesNotSeePaddingWhereverItStands) {
  const at::NoGradGuard no_grad;
  for (const double dropout : {0.0, 0.3}) {
    const auto model = transformer({{"dropout", dropout}});
    const auto output = model->forward(three_texts(), {});
    EXPECT_LT(largest_difference(output, model->forward(padded_in_front(three_texts(), 5), {})),
              1e-12);
  }
}

TEST(TextTransformer, TakesTextsWithoutTokensAndNoTexts) {
  const auto model = transformer(json::object());
  EXPECT_TRUE(model->forward(at::full({2, 3}, 1, at::kLong), {}).isfinite().all().item<bool>());
  EXPECT_EQ(model->forward(at::full({0, 3}, 1, at::kLong), {}).size(0), 0);
  EXPECT_EQ(model->forward(at::full({0, 0}, 1, at::kLong), {}).size(0), 0);
}

TEST(TextTransformer, SaysWhatDoesNotFit) {
  EXPECT_EQ(test::refused<Model>(with(tiny, {{"num_heads", 5}})),
            "num_heads: 'num_heads: 5' does not divide 'dim: 12'\n");
  EXPECT_EQ(
      test::refused<Model>(with(tiny, {{"dim", 9}, {"num_heads", 3}, {"positions", "sinusoidal"}})),
      "positions: 'positions: sinusoidal' needs an even 'dim'; it is 9\n");
  ModelContext images;
  images.data.sample = {3, 32, 32};
  expect_refused(with(tiny, {{"num_classes", 2}}),
                 "model: text_transformer wants texts (data: {type: text_folder})", images);
}

}  // namespace
}  // namespace ddptrain
