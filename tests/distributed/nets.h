// Small networks and batches for tests of engines.
#pragma once

#include <ATen/TensorOperators.h>
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
#include "data/shard.h"
#include "distributed/engine.h"
#include "ranks.h"

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
    if (options_.norm) hidden = normalised(hidden, pass);
    hidden = at::relu(hidden);
    if (options_.dropout && pass.training) hidden = hidden.mul(mask(hidden, pass));
    const auto output = at::linear(hidden, second_);
    if (!uses_spare(pass) || output.size(0) == 0) return output;
    return at::cat({output.slice(0, 0, 1).add(spare_), output.slice(0, 1)});
  }

 private:
  at::Tensor normalised(const at::Tensor& hidden, const Pass& pass) {
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
    return keep.to(hidden.scalar_type());
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

/// `rows` samples of six numbers with a label below three.
inline Batch samples(std::int64_t rows, const std::string& name = "samples") {
  Batch batch;
  batch.inputs = {drawn({rows, 6}, name)};
  batch.targets = {at::arange(rows, at::kLong).mul(7).remainder(3)};
  for (std::int64_t i = 0; i < rows; ++i) batch.indices.push_back(i);
  batch.rows = rows;
  return batch;
}

/// Cross-entropy; label k has the weight weights[k].
class CrossEntropy final : public Loss {
 public:
  explicit CrossEntropy(const std::vector<double>& weights)
      : weights_(at::tensor(weights, at::kDouble)) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    const auto likelihood = output.log_softmax(1).gather(1, target.unsqueeze(1)).squeeze(1);
    const auto weights = weights_.index_select(0, target).to(output.scalar_type());
    return {likelihood.neg().mul(weights), weights};
  }

 private:
  at::Tensor weights_;
};

/// How a global batch is cut: into micro-steps, and these over ranks.
struct Cut {
  std::int64_t accumulate = 1;
  int rank = 0;
  int world = 1;
};

/// One window of an engine on its part of a global batch.
inline StepTotals run_window(Engine& engine, const Batch& batch, const Cut& by, MicroStep at) {
  const CrossEntropy loss({1, 0.5, 2});
  engine.begin();
  const auto micro = cut(batch.rows, by.accumulate);
  for (std::size_t a = 0; a + 1 < micro.size(); ++a) {
    const auto piece = cut(micro[a + 1] - micro[a], by.world);
    const auto r = static_cast<std::size_t>(by.rank);
    at.last = a + 2 == micro.size();
    engine.accumulate(slice(batch, micro[a] + piece[r], piece[r + 1] - piece[r]), loss, at);
  }
  return engine.finish();
}

using Tensors = std::vector<at::Tensor>;

/// Copies of all gradients as means over the batch; undefined where there is none.
inline Tensors mean_gradients(Engine& engine, double factor) {
  Tensors all;
  for (const auto& [name, parameter] : engine.model().named_parameters())
    all.push_back(parameter.grad().defined() ? parameter.grad().mul(factor).to(at::kDouble)
                                             : at::Tensor());
  return all;
}

/// A few steps of gradient descent; the mean gradients of every step, one after the other.
inline Tensors descend(Engine& engine, const std::vector<Batch>& batches, const Cut& by) {
  Tensors all;
  MicroStep at;
  at.seed = 11;
  at.nominal = 5;
  for (const auto& batch : batches) {
    const auto totals = run_window(engine, batch, by, at);
    const auto gradients = mean_gradients(engine, at.nominal / totals.weight);
    all.insert(all.end(), gradients.begin(), gradients.end());
    std::size_t i = 0;
    for (const auto& [name, parameter] : engine.model().named_parameters())
      if (const auto& gradient = gradients[i++]; gradient.defined())
        parameter.detach().add_(gradient, -0.5);
    engine.parameters_changed();
    ++at.step;
  }
  return all;
}

inline double length(const at::Tensor& tensor) { return tensor.norm().item<double>(); }

/// Relative L2 distance of all tensors together.
inline double distance(const Tensors& a, const Tensors& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() && !b[i].defined()) continue;
    difference += std::pow(length(a[i] - b[i]), 2);
    size += std::pow(length(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

}  // namespace ddptrain::test
