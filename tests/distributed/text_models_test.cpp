// Models of texts, all their dropouts on, give the same gradients however the batch is cut: masks
// follow from the row in the global batch, penalties are weighted like the loss.
#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

/// Rows of 3 to 15 tokens of 30, padded in front in whole segments of 4 and the rest behind; some
/// ranks have none but short ones.
Batch texts(std::int64_t rows, std::int64_t first) {
  Batch batch = samples(rows);
  auto tokens = at::ones({rows, 15}, at::kLong);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length = 15 - 12 * row / rows, front = (15 - length) / 4 * 4;
    for (std::int64_t i = 0; i < length; ++i)
      tokens[row][front + i] = 2 + (first + row * 7 + i * i * 3 + i * (row + 1)) % 28;
  }
  batch.inputs = {tokens};
  return batch;
}

ModelFactory model_of(const json& recipe) {
  return [recipe] {
    ModelContext context;
    context.data.cardinalities = {30};
    context.data.padding = 1;
    context.data.classes = {"a", "b", "c"};
    context.data.tokens.emplace().streams = true;  // of language models
    context.generator = at::detail::getDefaultCPUGenerator().clone();
    context.generator.set_current_seed(1);
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

void expect_the_same_everywhere(const json& recipe, const std::vector<Batch>& batches) {
  const auto model = model_of(recipe);
  auto options = in_double();
  options.sync_bn = true;
  const auto expected = by_single(model, batches, options);
  expect_same(by_dp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 1), expected);
  expect_same(by_ddp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 3), expected);
}

void expect_the_same_everywhere(const json& recipe) {
  expect_the_same_everywhere(recipe, {texts(8, 0), texts(7, 5), texts(5, 9)});
}

/// Pieces 5 k .. of 7 streams and the tokens that follow; some are not learned.
Batch stream(std::int64_t piece) {
  Batch batch = samples(7);
  const auto text = at::arange(7 * 40, at::kLong).mul(11).add(3).remainder(28).add(2).view({7, 40});
  batch.inputs = {text.slice(1, 5 * piece, 5 * piece + 5).contiguous()};
  batch.targets = {text.slice(1, 5 * piece + 1, 5 * piece + 6).contiguous()};
  batch.targets[0].select(1, piece % 5).slice(0, 2, 4).fill_(-100);
  return batch;
}

TEST(TextModels, AwdLstmLmCarriesItsStatesUnderEveryEngine) {
  const json recipe = {{"type", "awd_lstm_lm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 2}};
  expect_the_same_everywhere(recipe, {stream(0), stream(1), stream(2)});
}

TEST(TextModels, AwdLstmLmContinuesWhereTheBatchBeforeEnded) {
  const auto engine = make_single_engine(
      model_of({{"type", "awd_lstm_lm"}, {"emb_sz", 6}, {"n_hid", 8}, {"n_layers", 2}}),
      in_double());
  RowStates states;
  const auto first = engine->evaluate(stream(0), states.of({0, 7}).get());
  const auto second = engine->evaluate(stream(1), states.of({0, 7}).get());
  auto both = stream(0);
  both.inputs = {at::cat({both.inputs[0], stream(1).inputs[0]}, 1)};
  const auto whole = engine->evaluate(both);
  EXPECT_LT(length(at::cat({first, second}, 1) - whole), 1e-13 * length(whole));
}

TEST(TextModels, AwdLstmIsTheSameUnderEveryEngine) {
  expect_the_same_everywhere({{"type", "awd_lstm"},
                              {"emb_sz", 6},
                              {"n_hid", 8},
                              {"n_layers", 2},
                              {"lin_ftrs", {5}},
                              {"drop_mult", 1},
                              {"bptt", 4},
                              {"max_len", 10}});
}

TEST(TextModels, BagOfEmbeddingsIsTheSameUnderEveryEngine) {
  expect_the_same_everywhere({{"type", "bag_of_embeddings"},
                              {"dim", 6},
                              {"ngrams", 2},
                              {"buckets", 50},
                              {"hidden", {5}},
                              {"dropout", 0.3},
                              {"token_dropout", 0.2}});
}

TEST(TextModels, TextTransformerIsTheSameUnderEveryEngine) {
  expect_the_same_everywhere({{"type", "text_transformer"},
                              {"dim", 12},
                              {"num_heads", 3},
                              {"mlp_dim", 16},
                              {"max_len", 12},
                              {"dropout", 0.2}});
}

}  // namespace
}  // namespace ddptrain
