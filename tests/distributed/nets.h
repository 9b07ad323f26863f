// Small networks and batches for tests of engines.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "distributed/engine.h"

namespace ddptrain::test {

/// Normal draws, the same for the same name.
inline at::Tensor drawn(const std::vector<std::int64_t>& shape, const std::string& name,
                        double deviation = 1) {
  Stream stream(hash_text(name), 0);
  auto values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.mutable_data_ptr<double>()[i] = deviation * stream.normal();
  return values;
}

/// Two linear layers with a ReLU and dropout between them; on request plain batch norm after the
/// first, and a parameter that only some passes use.
class Net final : public Model {
 public:
  struct Options {
    bool dropout = true;
    bool norm = false;
    bool spare = false;
    double penalty = 0;  // times the mean square of the hidden numbers
  };

  explicit Net(const Options& options) : options_(options) {
    first_ = parameter("first", drawn({8, 6}, "first", 0.5));
    offset_ = parameter("offset", drawn({8}, "offset", 0.5));
    if (options.spare) spare_ = parameter("spare", drawn({3}, "spare"));
    second_ = parameter("second", drawn({3, 8}, "second", 0.5));
    if (!options.norm) return;
    mean_ = buffer("running_mean", at::zeros({8}, at::kDouble));
    variance_ = buffer("running_var", at::ones({8}, at::kDouble));
    batches_ = buffer("num_batches_tracked", at::zeros({}, at::kLong));
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    auto hidden = at::linear(input, first_, offset_);
    if (options_.norm) hidden = normalized(hidden, pass);
    hidden = at::relu(hidden);
    if (options_.dropout && pass.training) hidden = hidden.mul(mask(hidden, pass));
    if (options_.penalty != 0 && pass.penalty != nullptr)
      pass.penalty->add(hidden.square().mean(1).mul(options_.penalty));
    const auto output = at::linear(hidden, second_);
    if (!uses_spare(pass) || output.size(0) == 0) return output;
    return at::cat({output.slice(0, 0, 1).add(spare_), output.slice(0, 1)});
  }

 private:
  at::Tensor normalized(const at::Tensor& hidden, const Pass& pass) {
    if (pass.training) batches_ += 1;
    return at::batch_norm(hidden, {}, {}, mean_, variance_, pass.training, 0.1, 1e-5, false);
  }

  /// A function of (seed, step, row in the global batch) alone.
  static at::Tensor mask(const at::Tensor& hidden, const Pass& pass) {
    auto keep = at::empty(hidden.sizes(), at::kDouble);
    for (std::int64_t row = 0; row < hidden.size(0); ++row) {
      Stream stream(pass.seed, static_cast<std::uint64_t>(pass.step),
                    static_cast<std::uint64_t>(pass.first_row + row));
      for (std::int64_t i = 0; i < hidden.size(1); ++i)
        keep.mutable_data_ptr<double>()[row * hidden.size(1) + i] = stream.uniform() < 0.5 ? 0 : 2;
    }
    return keep.to(hidden.device(), hidden.scalar_type());
  }

  /// Row 0 of the global batch uses it, in odd steps.
  bool uses_spare(const Pass& pass) const {
    return options_.spare && pass.first_row == 0 && pass.step % 2 == 1;
  }

  Options options_;
  at::Tensor first_, offset_, spare_, second_, mean_, variance_, batches_;
};

inline ModelFactory factory(const Net::Options& options = {}) {
  return [options] { return std::make_unique<Net>(options); };
}

/// `rows` samples, six numbers each by default, with labels 0 1 2 0 1 2 and so on.
inline Batch samples(std::int64_t rows, const std::string& name = "samples",
                     std::vector<std::int64_t> shape = {6}) {
  Batch batch;
  shape.insert(shape.begin(), rows);
  batch.inputs = {drawn(shape, name)};
  batch.targets = {at::arange(rows, at::kLong).remainder(3)};
  for (std::int64_t i = 0; i < rows; ++i) batch.indices.push_back(i);
  batch.rows = rows;
  return batch;
}

/// Cross-entropy of rows or of pixels; label k has the weight weights[k].
class CrossEntropy final : public Loss {
 public:
  explicit CrossEntropy(const std::vector<double>& weights)
      : weights_(at::tensor(weights, at::kDouble)) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto likelihood = output.log_softmax(1).gather(1, target.unsqueeze(1)).squeeze(1);
    const auto weights =
        weights_.to(target.device()).index_select(0, target.flatten()).to(output.scalar_type());
    const auto each = weights.view_as(target);
    return {likelihood.neg().mul(each), each};
  }

 private:
  at::Tensor weights_;
};

}  // namespace ddptrain::test
