#include "models/language/causal_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "base/random.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using test::largest_difference;
using test::noise;

AttentionHeads random_heads(std::int64_t rows, std::int64_t time, at::ScalarType type) {
  const auto one = [&] { return noise({rows, time, 3, 8}).to(type).set_requires_grad(true); };
  return {one(), one(), one()};
}

at::Tensor bool_later(std::int64_t time) { return at::ones({time, time}, at::kBool).triu(1); }

/// The formula with a table of all pairs, of one document [rows, time, heads, features].
at::Tensor by_table(const AttentionHeads& heads, double scale, const at::Tensor& masks = {}) {
  const auto time = heads.query.size(1);
  const auto scores =
      at::matmul(heads.query.transpose(1, 2), heads.key.permute({0, 2, 3, 1})).mul(scale);
  auto weights =
      scores.masked_fill(bool_later(time), -std::numeric_limits<double>::infinity()).softmax(-1);
  if (masks.defined()) weights = weights.mul(masks);
  return at::matmul(weights, heads.value.transpose(1, 2)).transpose(1, 2).flatten(2);
}

Documents documents(std::int64_t rows, const std::vector<std::int64_t>& counts) {
  auto all = std::make_shared<std::vector<DocumentRange>>();
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t first = 0;
    for (const auto count : counts) {
      all->push_back({row, first, count});
      first += count;
    }
  }
  return all;
}

AttentionHeads places(const AttentionHeads& heads, std::int64_t first, std::int64_t count) {
  return {heads.query.narrow(1, first, count), heads.key.narrow(1, first, count),
          heads.value.narrow(1, first, count)};
}

/// Outputs and all gradients agree to 1e-12.
void expect_same(const AttentionHeads& heads, const at::Tensor& actual,
                 const at::Tensor& expected) {
  EXPECT_LT(largest_difference(actual, expected), 1e-12);
  const auto gradient = noise(actual.sizes().vec()).to(actual.scalar_type());
  const std::vector<at::Tensor> inputs{heads.query, heads.key, heads.value};
  const auto ours = torch::autograd::grad({actual}, inputs, {gradient});
  const auto theirs = torch::autograd::grad({expected}, inputs, {gradient});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(largest_difference(ours[i], theirs[i]), 1e-12);
}

TEST(CausalAttention, IsTheFormula) {
  const auto heads = random_heads(3, 37, at::kDouble);
  expect_same(heads, causal_attention(heads, {.scale = 0.3}), by_table(heads, 0.3));
}

TEST(CausalAttention, ReadsEachDocumentByItself) {
  const auto heads = random_heads(2, 30, at::kDouble);
  const auto actual =
      causal_attention(heads, {.scale = 0.3, .documents = documents(2, {7, 1, 22})});
  const auto expected =
      at::cat({by_table(places(heads, 0, 7), 0.3), by_table(places(heads, 7, 1), 0.3),
               by_table(places(heads, 8, 22), 0.3)},
              1);
  expect_same(heads, actual, expected);
}

TEST(CausalAttention, BeginsADocumentWithARowAndWherePositionsBeginAgain) {
  const auto positions = at::zeros({2, 4}, at::kLong);
  positions[0].slice(0, 1).copy_(at::ones({3}, at::kLong));
  positions[1].fill_(5);
  const auto found = documents_of(positions);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).count, 4);
  EXPECT_EQ(found->at(1).row, 1);
  EXPECT_EQ(documents_of(at::zeros({2, 3}, at::kLong))->size(), 6U);
}

/// [rows, heads, time, time] of the masks that the header of dropped_attention.h defines.
at::Tensor all_masks(const MaskRows& rows, std::int64_t heads, std::int64_t time, double p) {
  auto all = at::zeros({rows.rows, heads, time, time}, at::kDouble);
  for (std::int64_t first = 0; first < time; first += 64) {
    const auto count = std::min<std::int64_t>(64, time - first), seen = first + count;
    auto chunk = rows;
    chunk.key = mix(rows.key, static_cast<std::uint64_t>(first / 64));
    chunk.elements = heads * count * seen;
    all.narrow(2, first, count)
        .narrow(3, 0, seen)
        .copy_(
            dropout_mask(chunk, p, 1 / (1 - p), at::kDouble).view({rows.rows, heads, count, seen}));
  }
  return all;
}

TEST(CausalAttention, DropsByMasksThatAreFunctionsOfPosition) {
  const auto heads = random_heads(2, 150, at::kDouble);
  MaskRows rows{mix(7, 8), 5, 3, 2, 0};
  const auto actual = causal_attention(heads, {.scale = 0.3, .dropout = {{rows, 0.4}}});
  expect_same(heads, actual, by_table(heads, 0.3, all_masks(rows, 3, 150, 0.4)));
}

TEST(CausalAttention, DropsOfADocumentWhatItsRowAndPlaceSay) {
  const auto heads = random_heads(2, 100, at::kDouble);
  const MaskRows rows{mix(7, 8), 5, 3, 2, 0};
  const auto actual = causal_attention(
      heads, {.scale = 0.3, .documents = documents(2, {30, 70}), .dropout = {{rows, 0.4}}});
  std::vector<at::Tensor> parts;
  for (const auto& [first, count] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 30}, {30, 70}}) {
    auto own = rows;
    own.key = mix(rows.key, static_cast<std::uint64_t>(first));
    parts.push_back(by_table(places(heads, first, count), 0.3, all_masks(own, 3, count, 0.4)));
  }
  expect_same(heads, actual, at::cat(parts, 1));
}

TEST(CausalAttention, DropsTheSameHoweverTheBatchIsCut) {
  const auto heads = random_heads(4, 70, at::kFloat);
  const auto part = [&](std::int64_t first, std::int64_t count) {
    const AttentionHeads own{heads.query.narrow(0, first, count), heads.key.narrow(0, first, count),
                             heads.value.narrow(0, first, count)};
    return causal_attention(own, {.scale = 0.3, .dropout = {{{9, 5, 3 + first, count, 0}, 0.4}}});
  };
  EXPECT_LT(largest_difference(part(0, 4), at::cat({part(0, 1), part(1, 3)})), 1e-6);
}

TEST(CausalAttention, OfNoRowsIsNothing) {
  const auto heads = random_heads(0, 5, at::kFloat);
  EXPECT_EQ(causal_attention(heads, {}).sizes(), (std::vector<std::int64_t>{0, 5, 24}));
}

TEST(ContinuedAttention, IsTheLastPartOfTheWhole) {
  const auto heads = random_heads(1, 20, at::kDouble);
  const auto whole = by_table(heads, 0.3)[0];
  const auto key = heads.key[0].transpose(0, 1), value = heads.value[0].transpose(0, 1);
  for (const std::int64_t count : {1, 6, 20}) {
    const auto last =
        continued_attention(heads.query[0].narrow(0, 20 - count, count), key, value, 0.3);
    EXPECT_LT(largest_difference(last, whole.narrow(0, 20 - count, count)), 1e-12) << count;
  }
}

}  // namespace
}  // namespace ddptrain
