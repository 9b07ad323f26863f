#include "losses/vocabulary_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace ddptrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::ScalarType exact_type(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Places first .. first + hidden.size(0) - 1.
struct Chunk {
  std::int64_t first = 0;
  at::Tensor hidden;
  at::Tensor labels;  // [n, 1]
};

/// The arithmetic of a chunk, without a graph.
class VocabularyChunks {
 public:
  VocabularyChunks(const ProjectedOutput& output, at::Tensor labels,
                   const VocabularyLossOptions& options)
      : output_(output), labels_(std::move(labels)), options_(options) {}

  const ProjectedOutput& output() const { return output_; }
  std::int64_t places() const { return labels_.size(0); }

  void each(const std::function<void(const Chunk&)>& use) const {
    const auto vocabulary = output_.weight.size(0);
    const auto at_once = options_.at_once > 0
                             ? options_.at_once
                             : std::max<std::int64_t>(16, kScoresOfAChunk / vocabulary);
    for (std::int64_t first = 0; first < places(); first += at_once)
      use({first, output_.hidden.slice(0, first, first + at_once),
           labels_.slice(0, first, first + at_once).unsqueeze(1)});
  }

  /// In fp32 at least.
  struct Scores {
    at::Tensor logarithms;  // log softmax(scores) [n, vocabulary]
    at::Tensor normalizer;  // the logarithm of the sum of exponentials [n, 1]
    at::Tensor capped;      // the scores [n, vocabulary], where they have a soft cap
  };
  Scores scores_of(const Chunk& chunk) const {
    auto scores = at::linear(chunk.hidden, output_.weight, output_.bias);
    scores = scores.to(exact_type(scores));
    const auto cap = output_.soft_cap;
    if (cap > 0) scores.div_(cap).tanh_().mul_(cap);
    auto normalizer = scores.gather(1, chunk.labels);
    auto logarithms = cap > 0 ? at::empty_like(scores) : scores;
    at::_log_softmax_out(logarithms, scores, 1, /*half_to_float=*/false);  // row by row
    normalizer.sub_(logarithms.gather(1, chunk.labels));
    return {logarithms, normalizer, cap > 0 ? scores : at::Tensor()};
  }

  at::Tensor values(const Chunk& chunk, const Scores& s) const {
    auto values = s.logarithms.gather(1, chunk.labels).neg_();
    if (const auto smoothing = options_.label_smoothing; smoothing > 0)
      values = values.mul_(1 - smoothing).sub_(s.logarithms.mean(1, /*keepdim=*/true), smoothing);
    if (options_.z_loss > 0) values.add_(s.normalizer.square(), options_.z_loss);
    return values.squeeze(1);
  }

  /// Of the values with respect to the scores before the cap; takes the memory of `s`.
  at::Tensor slopes(const Chunk& chunk, Scores s) const {
    auto slopes = s.logarithms.exp_();
    if (options_.z_loss > 0) slopes.mul_(s.normalizer.mul_(2 * options_.z_loss).add_(1));
    const auto smoothing = options_.label_smoothing;
    if (smoothing > 0) slopes.sub_(smoothing / static_cast<double>(slopes.size(1)));
    slopes.scatter_add_(1, chunk.labels,
                        at::full_like(chunk.labels, smoothing - 1, slopes.options()));
    if (const auto cap = output_.soft_cap; cap > 0)
      slopes.mul_(s.capped.div_(cap).square_().neg_().add_(1));
    return slopes;
  }

 private:
  ProjectedOutput output_;
  at::Tensor labels_;
  VocabularyLossOptions options_;
};

/// Gradients of the hidden states, the weight and the bias, which is undefined where there is none.
struct ProjectionGradients {
  at::Tensor hidden, weight, bias;

  explicit ProjectionGradients(const ProjectedOutput& output)
      : hidden(at::zeros_like(output.hidden)), weight(exact_zeros(output.weight)) {
    if (output.bias.defined()) bias = exact_zeros(output.bias);
  }

  void add(const ProjectedOutput& output, const Chunk& chunk, const at::Tensor& slopes) {
    const auto own = slopes.to(output.weight.scalar_type());
    hidden.narrow(0, chunk.first, own.size(0)).copy_(own.mm(output.weight));
    if (weight.scalar_type() == own.scalar_type())
      weight.addmm_(own.t(), chunk.hidden);
    else
      weight.add_(own.t().mm(chunk.hidden));
    if (bias.defined()) bias.add_(slopes.sum(0));
  }

 private:
  static at::Tensor exact_zeros(const at::Tensor& like) {
    return at::zeros(like.sizes(), like.options().dtype(exact_type(like)));
  }
};

/// The chunks, for the backward pass, and the gradients of the sum of all values, where the forward
/// pass has computed them.
class VocabularyPass : public torch::CustomClassHolder {
 public:
  VocabularyPass(VocabularyChunks own, bool learns) : chunks(std::move(own)) {
    if (learns && chunks.output().hidden.is_cpu()) ready.emplace(chunks.output());
  }

  at::Tensor forward() {
    std::vector<at::Tensor> values;
    chunks.each([&](const Chunk& chunk) {
      auto scores = chunks.scores_of(chunk);
      values.push_back(chunks.values(chunk, scores));
      if (ready) ready->add(chunks.output(), chunk, chunks.slopes(chunk, std::move(scores)));
    });
    const auto& hidden = chunks.output().hidden;
    return values.empty() ? at::zeros({0}, hidden.options().dtype(exact_type(hidden)))
                          : at::cat(values);
  }

  /// `each` [n] is the gradient of each value.
  ProjectionGradients backward(const at::Tensor& each) {
    if (ready && is_uniform(each)) return scaled(each);
    ProjectionGradients gradients(chunks.output());
    chunks.each([&](const Chunk& chunk) {
      auto slopes = chunks.slopes(chunk, chunks.scores_of(chunk));
      slopes.mul_(each.narrow(0, chunk.first, slopes.size(0)).unsqueeze(1));
      gradients.add(chunks.output(), chunk, slopes);
    });
    return gradients;
  }

 private:
  static bool is_uniform(const at::Tensor& each) {
    return each.numel() > 0 && each.eq(each[0]).all().item<bool>();
  }

  ProjectionGradients scaled(const at::Tensor& each) {
    auto gradients = *std::exchange(ready, {});
    for (auto* tensor : {&gradients.hidden, &gradients.weight, &gradients.bias})
      if (tensor->defined()) tensor->mul_(each[0]);
    return gradients;
  }

  VocabularyChunks chunks;
  std::optional<ProjectionGradients> ready;
};

class VocabularyLossFunction : public torch::autograd::Function<VocabularyLossFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& /*hidden*/,
                            const at::Tensor& /*weight*/, const std::optional<at::Tensor>& /*bias*/,
                            const c10::intrusive_ptr<VocabularyPass>& pass) {
    context->saved_data["pass"] = c10::IValue::make_capsule(pass);
    return pass->forward();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["pass"].toCapsule();
    auto found = static_cast<VocabularyPass&>(*capsule).backward(gradients[0]);
    return {found.hidden, found.weight, found.bias, at::Tensor()};
  }
};

}  // namespace

at::Tensor vocabulary_loss(const ProjectedOutput& output, const at::Tensor& labels,
                           const VocabularyLossOptions& options) {
  const bool learns = at::GradMode::is_enabled() &&
                      (output.hidden.requires_grad() || output.weight.requires_grad());
  auto plain = output;
  plain.hidden = output.hidden.detach();
  plain.weight = output.weight.detach();
  if (output.bias.defined()) plain.bias = output.bias.detach();
  std::optional<at::Tensor> bias;
  if (output.bias.defined()) bias = output.bias;
  return VocabularyLossFunction::apply(
      output.hidden, output.weight, bias,
      c10::make_intrusive<VocabularyPass>(VocabularyChunks(plain, labels, options), learns));
}

}  // namespace ddptrain
