// Batches of small texts, padded by 1.
#pragma once

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "models/nets.h"

namespace ddptrain::test {

using Rows = std::vector<std::vector<std::int64_t>>;

inline at::Tensor tokens(const Rows& rows) {
  std::vector<std::int64_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return at::tensor(all, at::kLong).view({static_cast<std::int64_t>(rows.size()), -1});
}

/// Places of padding in front.
inline at::Tensor padded_in_front(const at::Tensor& rows, std::int64_t places) {
  return at::cat({at::full({rows.size(0), places}, 1, at::kLong), rows}, 1);
}

/// Texts of a vocabulary of 30 tokens in two classes.
inline ModelContext text_context(std::uint64_t seed = 1) {
  ModelContext context;
  context.data.cardinalities = {30};
  context.data.padding = 1;
  context.data.classes = {"neg", "pos"};
  context.generator = seeded(seed);
  return context;
}

/// Three texts of up to 11 tokens, as fastai's pad_chunk(seq_len=4) fills them up.
inline at::Tensor three_texts() {
  return tokens({{2, 6, 16, 4, 26, 26, 4, 16, 6, 2, 4},
                 {1, 1, 1, 1, 9, 14, 25, 14, 9, 10, 17},
                 {1, 1, 1, 1, 1, 1, 1, 1, 16, 22, 6}});
}

inline std::vector<double> numbers_of(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// Building `model` fails with a message that holds `part`.
inline void expect_refused(const nlohmann::json& model, const std::string& part,
                           const ModelContext& context = text_context()) {
  try {
    make_model(model, context);
    FAIL() << "expected: " << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

}  // namespace ddptrain::test
