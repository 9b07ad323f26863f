#include "losses/vocabulary_loss.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "autograd/function.h"
#include "losses/vocabulary_rows.h"

namespace ddptrain {
namespace {

at::ScalarType exact_type(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Places first .. first + hidden.size(0) - 1.
struct Chunk {
  std::int64_t first = 0;
  at::Tensor hidden;
  at::Tensor labels;  // [n, 1]
  at::Tensor scores;  // room for them [n, vocabulary]; undefined: none was made
};

constexpr std::int64_t kAligned = 16;  // numbers: 64 bytes of fp32

/// Rows [n, vocabulary] that begin at aligned places, without which a matrix product with an odd
/// number of tokens takes a third longer. Undefined where the product is not yet exact.
at::Tensor score_rows(const ProjectedOutput& output, std::int64_t n) {
  const auto& hidden = output.hidden;
  if (hidden.scalar_type() != exact_type(hidden)) return {};
  const auto vocabulary = output.weight.size(0);
  const auto width = (vocabulary + kAligned - 1) / kAligned * kAligned;
  return at::empty({n, width}, hidden.options()).narrow(1, 0, vocabulary);
}

/// Of each row of scores [n, vocabulary].
void softmax_in_place(at::Tensor& scores) {
  const auto softmax = [](at::Tensor rows) {
    at::_softmax_out(rows, rows, 1, /*half_to_float=*/false);
  };
  if (scores.is_contiguous()) return softmax(scores);
  at::parallel_for(0, scores.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    for (auto row = begin; row < end; ++row) softmax(scores.narrow(0, row, 1));
  });
}

/// The arithmetic of a chunk on the CPU, without a graph.
class VocabularyChunks {
 public:
  VocabularyChunks(const ProjectedOutput& output, at::Tensor labels,
                   const VocabularyLossOptions& options)
      : output_(output), labels_(std::move(labels)), options_(options) {}

  const ProjectedOutput& output() const { return output_; }
  std::int64_t places() const { return labels_.size(0); }

  /// One chunk after the other, in the same memory.
  void each(const std::function<void(const Chunk&)>& use) const {
    const auto vocabulary = output_.weight.size(0);
    const auto at_once = options_.at_once > 0
                             ? options_.at_once
                             : std::max<std::int64_t>(16, kScoresOfAChunk / vocabulary);
    const auto room = score_rows(output_, std::min(at_once, places()));
    for (std::int64_t first = 0; first < places(); first += at_once) {
      const auto hidden = output_.hidden.slice(0, first, first + at_once);
      use({first, hidden, labels_.slice(0, first, first + at_once).unsqueeze(1),
           room.defined() ? room.slice(0, 0, hidden.size(0)) : room});
    }
  }

  /// In fp32 at least.
  struct Scores {
    at::Tensor shares;      // softmax(scores) [n, vocabulary]
    at::Tensor values;      // -log of the shares of the labels [n, 1]
    at::Tensor mean;        // of -log of all shares [n, 1], where labels are smoothed
    at::Tensor normalizer;  // the logarithm of the sum of exponentials [n, 1]
    at::Tensor capped;      // the scores [n, vocabulary], where they have a soft cap
  };
  Scores scores_of(const Chunk& chunk) const {
    auto scores = product_of(chunk);
    if (const auto cap = output_.soft_cap; cap > 0) scores.div_(cap).tanh_().mul_(cap);
    Scores s;
    if (output_.soft_cap > 0) s.capped = scores.clone();
    const auto largest = scores.amax(1, /*keepdim=*/true);
    s.values = largest.sub(scores.gather(1, chunk.labels));
    if (options_.label_smoothing > 0) s.mean = largest.sub(scores.mean(1, /*keepdim=*/true));
    softmax_in_place(scores);
    const auto log_sum = scores.amax(1, /*keepdim=*/true).log_().neg_();  // the largest is 1 / sum
    s.values.add_(log_sum);
    if (s.mean.defined()) s.mean.add_(log_sum);
    s.normalizer = largest.add(log_sum);
    s.shares = std::move(scores);
    return s;
  }

  at::Tensor values(const Scores& s) const {
    auto values = s.values;
    if (const auto smoothing = options_.label_smoothing; smoothing > 0)
      values = values.mul(1 - smoothing).add_(s.mean, smoothing);
    if (options_.z_loss > 0) values = values.add(s.normalizer.square(), options_.z_loss);
    return values.squeeze(1);
  }

  /// Of the values with respect to the scores before the cap; takes the memory of `s`.
  at::Tensor slopes(const Chunk& chunk, Scores s) const {
    auto slopes = s.shares;
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
  at::Tensor product_of(const Chunk& chunk) const {
    if (!chunk.scores.defined()) {
      const auto scores = at::linear(chunk.hidden, output_.weight, output_.bias);
      return scores.to(exact_type(scores));
    }
    auto scores = chunk.scores;
    const auto weight = output_.weight.t();
    if (output_.bias.defined())
      at::addmm_out(scores, output_.bias, chunk.hidden, weight);
    else
      at::mm_out(scores, chunk.hidden, weight);
    return scores;
  }

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

  std::vector<at::Tensor> tensors() const { return {hidden, weight, bias}; }

 private:
  static at::Tensor exact_zeros(const at::Tensor& like) {
    return at::zeros(like.sizes(), like.options().dtype(exact_type(like)));
  }
};

// Both are functions of hidden states, weight and bias; `each` [n] is the gradient of each value.

/// On the CPU: with the gradients of the sum of all values, where the forward pass has computed
/// them.
class HostPass final : public AutogradFunction {
 public:
  HostPass(VocabularyChunks own, bool learns) : chunks_(std::move(own)) {
    if (learns) ready_.emplace(chunks_.output());
  }

  at::Tensor forward(FunctionContext&, const std::vector<at::Tensor>&) override {
    std::vector<at::Tensor> values;
    chunks_.each([&](const Chunk& chunk) {
      auto scores = chunks_.scores_of(chunk);
      values.push_back(chunks_.values(scores));
      if (ready_) ready_->add(chunks_.output(), chunk, chunks_.slopes(chunk, std::move(scores)));
    });
    const auto& hidden = chunks_.output().hidden;
    return values.empty() ? at::zeros({0}, hidden.options().dtype(exact_type(hidden)))
                          : at::cat(values);
  }

  std::vector<at::Tensor> backward(const FunctionContext&, const at::Tensor& each) override {
    if (ready_ && is_uniform(each)) return scaled(each).tensors();
    ProjectionGradients gradients(chunks_.output());
    chunks_.each([&](const Chunk& chunk) {
      auto slopes = chunks_.slopes(chunk, chunks_.scores_of(chunk));
      slopes.mul_(each.narrow(0, chunk.first, slopes.size(0)).unsqueeze(1));
      gradients.add(chunks_.output(), chunk, slopes);
    });
    return gradients.tensors();
  }

 private:
  static bool is_uniform(const at::Tensor& each) {
    return each.numel() > 0 && each.eq(each[0]).all().item<bool>();
  }

  ProjectionGradients scaled(const at::Tensor& each) {
    auto gradients = *std::exchange(ready_, {});
    for (auto* tensor : {&gradients.hidden, &gradients.weight, &gradients.bias})
      if (tensor->defined()) tensor->mul_(each[0]);
    return gradients;
  }

  VocabularyChunks chunks_;
  std::optional<ProjectionGradients> ready_;
};

/// On a device, without a wait for it. Where one chunk has all places its scores stay until the
/// backward pass, which makes gradients of them in place.
class DevicePass final : public AutogradFunction {
 public:
  DevicePass(const ProjectedOutput& output, at::Tensor labels, const VocabularyLossOptions& options,
             bool learns)
      : output_(output),
        labels_(std::move(labels)),
        terms_{output.weight.size(0), options.label_smoothing, options.z_loss, output.soft_cap},
        weight_(padded(output.weight)),
        bias_(output.bias.defined() ? padded(output.bias) : at::Tensor()),
        at_once_(options.at_once > 0
                     ? options.at_once
                     : std::max<std::int64_t>(16, kScoresOnADevice / weight_.size(0))),
        keeps_(learns && labels_.size(0) <= at_once_) {}

  at::Tensor forward(FunctionContext&, const std::vector<at::Tensor>&) override {
    std::vector<at::Tensor> values;
    each_chunk([&](std::int64_t first, std::int64_t count) {
      const auto scores = scores_of(first, count);
      auto found = vocabulary_values(scores, labels_.narrow(0, first, count), terms_);
      values.push_back(std::move(found.values));
      normalizers_.push_back(std::move(found.normalizers));
      if (keeps_) kept_ = scores;
    });
    if (values.size() == 1) return values.front();
    return values.empty()
               ? at::zeros({0}, output_.hidden.options().dtype(exact_type(output_.hidden)))
               : at::cat(values);
  }

  std::vector<at::Tensor> backward(const FunctionContext&, const at::Tensor& each) override {
    ProjectionGradients gradients(output_);
    std::size_t chunk = 0;
    each_chunk([&](std::int64_t first, std::int64_t count) {
      auto scores = kept_.defined() ? std::exchange(kept_, {}) : scores_of(first, count);
      vocabulary_slopes_(scores, labels_.narrow(0, first, count), normalizers_.at(chunk++),
                         each.narrow(0, first, count), terms_);
      gradients.hidden.narrow(0, first, count).copy_(scores.mm(weight_));
      gradients.weight.add_(
          scores.t().mm(output_.hidden.narrow(0, first, count)).narrow(0, 0, terms_.vocabulary));
      if (gradients.bias.defined())
        gradients.bias.add_(
            scores.sum(0, false, gradients.bias.scalar_type()).narrow(0, 0, terms_.vocabulary));
    });
    return gradients.tensors();
  }

 private:
  /// With rows of zeros behind it: matrix products of an odd number of tokens, such as GPT-2's
  /// 50,257, take several times as long.
  static at::Tensor padded(const at::Tensor& tensor) {
    constexpr std::int64_t kRows = 64;
    const auto rows = tensor.size(0), wanted = (rows + kRows - 1) / kRows * kRows;
    if (rows == wanted) return tensor;
    auto sizes = tensor.sizes().vec();
    sizes.front() = wanted - rows;
    return at::cat({tensor, at::zeros(sizes, tensor.options())});
  }

  void each_chunk(const std::function<void(std::int64_t first, std::int64_t count)>& use) const {
    for (std::int64_t first = 0; first < labels_.size(0); first += at_once_)
      use(first, std::min(at_once_, labels_.size(0) - first));
  }

  at::Tensor scores_of(std::int64_t first, std::int64_t count) const {
    return at::linear(output_.hidden.narrow(0, first, count), weight_, bias_);
  }

  ProjectedOutput output_;
  at::Tensor labels_;
  VocabularyTerms terms_;
  at::Tensor weight_, bias_;  // padded
  std::int64_t at_once_;
  bool keeps_;
  at::Tensor kept_;
  std::vector<at::Tensor> normalizers_;  // of each chunk
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
  c10::intrusive_ptr<AutogradFunction> pass;
  if (output.hidden.is_cpu())
    pass = c10::make_intrusive<HostPass>(VocabularyChunks(plain, labels, options), learns);
  else
    pass = c10::make_intrusive<DevicePass>(plain, labels, options, learns);
  return apply_function(std::move(pass), {output.hidden, output.weight, output.bias});
}

}  // namespace ddptrain
