// Models of texts, all their dropouts on, give the same gradients however the batch is cut: masks
// follow from the row in the global batch, penalties are weighted like the loss.
#include <ATen/Context.h>
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
    context.generator = at::detail::getDefaultCPUGenerator().clone();
    context.generator.set_current_seed(1);
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

void expect_the_same_everywhere(const json& recipe) {
  const auto model = model_of(recipe);
  auto options = in_double();
  options.sync_bn = true;
  const std::vector<Batch> batches{texts(8, 0), texts(7, 5), texts(5, 9)};
  const auto expected = by_single(model, batches, options);
  expect_same(by_dp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 1), expected);
  expect_same(by_ddp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 3), expected);
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
