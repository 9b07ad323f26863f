#include "train/step/sample_record.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ddptrain {
namespace {

constexpr std::int64_t kMostSamples = 50'000;
constexpr std::int64_t kColumns = 6;  // index, loss, and those of outcome_columns()

at::Tensor unknown(std::int64_t rows, const at::Tensor& like) {
  return at::full({rows}, std::numeric_limits<double>::quiet_NaN(),
                  like.options().dtype(at::kDouble));
}

at::Tensor loss_of_rows(const LossTerms& loss, std::int64_t rows, const at::Tensor& like) {
  if (loss.values.numel() != rows || loss.weights.numel() != rows) return unknown(rows, like);
  return loss.values.detach().reshape({rows}).to(at::kDouble) /
         loss.weights.reshape({rows}).to(at::kDouble);  // NaN where the weight is 0
}

/// Columns truth, predicted, probability, second; none where rows are no classes or numbers.
std::vector<at::Tensor> outcome_columns(const at::Tensor& output, const at::Tensor& target,
                                        const OutputActivation& activation) {
  const auto rows = output.size(0);
  const bool whole = !target.is_floating_point();
  if (target.numel() != rows) return {};
  const auto truth = target.reshape({rows}).to(at::kDouble);
  using Kind = OutputActivation::Kind;
  if (activation.kind == Kind::softmax && whole && output.dim() == 2 && output.size(1) > 1) {
    const auto [values, classes] = predictions(output, activation).topk(2, 1);
    return {truth, classes.select(1, 0).to(at::kDouble), values.select(1, 0), values.select(1, 1)};
  }
  if (activation.kind == Kind::none && !whole && output.numel() == rows)
    return {truth, output.detach().reshape({rows}).to(at::kDouble), unknown(rows, output),
            unknown(rows, output)};
  return {};
}

}  // namespace

SampleRecord::SampleRecord(const OutputActivation& activation, std::int64_t samples)
    : activation_(activation),
      stride_(std::max<std::int64_t>(1, (samples + kMostSamples - 1) / kMostSamples)) {}

void SampleRecord::add(const at::Tensor& output, const at::Tensor& target, const LossTerms& loss,
                       const std::vector<std::int64_t>& indices) {
  const auto rows = static_cast<std::int64_t>(indices.size());
  if (rows == 0 || output.dim() == 0 || output.size(0) != rows) return;
  auto columns = outcome_columns(output, target, activation_);
  if (columns.empty()) return;
  columns.insert(columns.begin(), loss_of_rows(loss, rows, output));
  rows_.emplace_back(at::stack(columns, 1));
  indices_.insert(indices_.end(), indices.begin(), indices.end());
}

at::Tensor SampleRecord::drain() {
  if (rows_.empty()) return at::zeros({0, kColumns}, at::kDouble);
  std::vector<at::Tensor> batches;
  for (auto& rows : rows_) batches.push_back(rows.wait());
  const auto indices = at::tensor(indices_, at::kLong);
  const auto kept = indices.remainder(stride_).eq(0).nonzero().reshape(-1);
  rows_.clear();
  indices_.clear();
  return at::cat({indices.to(at::kDouble).unsqueeze(1), at::cat(batches)}, 1).index_select(0, kept);
}

std::vector<SampleOutcome> all_outcomes(const std::vector<at::Tensor>& records) {
  std::vector<SampleOutcome> all;
  const auto rows = at::cat(records).contiguous();
  const auto* values = rows.const_data_ptr<double>();
  for (std::int64_t row = 0; row < rows.size(0); ++row, values += kColumns)
    all.push_back({std::llround(values[0]), values[1], values[2], values[3], values[4], values[5]});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return all;
}

}  // namespace ddptrain
