#include "losses/few_classes.h"

#include <ATen/Dispatch.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/chain_node.h"
#include "autograd/torch_compat.h"
#include "base/error.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostClasses = 64, kMostScores = 65536;

/// -log softmax of one row, and what its gradient needs.
template <class T>
struct FewScores {
  const T* row;
  std::int64_t classes;
  double normalizer = 0;  // log of the sum of exp
  void normalize() {
    const double most = *std::max_element(row, row + classes);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - most);
    normalizer = most + std::log(sum);
  }
  double loss(std::int64_t c) const { return normalizer - row[c]; }
  double probability(std::int64_t c) const { return std::exp(row[c] - normalizer); }
};

/// Weights of the classes in double; all 1 where there are none.
template <class T>
struct FewWeights {
  const T* data;  // null: none
  double sum = 0;
  FewWeights(const at::Tensor& weight, std::int64_t classes)
      : data(weight.defined() ? weight.const_data_ptr<T>() : nullptr) {
    for (std::int64_t c = 0; c < classes; ++c) sum += (*this)[c];
  }
  double operator[](std::int64_t c) const { return data ? static_cast<double>(data[c]) : 1.0; }
};

template <class T>
double row_value(const FewScores<T>& scores, const FewWeights<T>& weights, std::int64_t label,
                 const FewClassesOptions& o) {
  double value = (1 - o.label_smoothing) * weights[label] * scores.loss(label);
  if (o.label_smoothing > 0) {
    double all = 0;
    for (std::int64_t c = 0; c < scores.classes; ++c) all += weights[c] * scores.loss(c);
    value += o.label_smoothing / static_cast<double>(scores.classes) * all;
  }
  return value + o.z_loss * scores.normalizer * scores.normalizer;
}

template <class T>
void row_gradient(T* to, const FewScores<T>& scores, const FewWeights<T>& weights,
                  std::int64_t label, const FewClassesOptions& o) {
  const double own = (1 - o.label_smoothing) * weights[label];
  const double each = o.label_smoothing / static_cast<double>(scores.classes);
  const double of_normalizer = own + each * weights.sum + 2 * o.z_loss * scores.normalizer;
  for (std::int64_t c = 0; c < scores.classes; ++c)
    to[c] = static_cast<T>(scores.probability(c) * of_normalizer - each * weights[c] -
                           (c == label ? own : 0.0));
}

/// Terms, and the gradient of each value by its row of scores: where a loss is written.
struct TermsAndGradients {
  const LossTerms& terms;
  const at::Tensor& gradients;
};

template <class T>
void all_rows(const at::Tensor& scores, const at::Tensor& labels, const at::Tensor& weight,
              const FewClassesOptions& o, const TermsAndGradients& into) {
  const auto classes = scores.size(1);
  const auto rows = scores.size(0);
  const FewWeights<T> weights(weight, classes);
  const auto* given = scores.const_data_ptr<T>();
  const auto* known = labels.const_data_ptr<std::int64_t>();
  auto* values = into.terms.values.mutable_data_ptr<T>();
  auto* counts = into.terms.weights.mutable_data_ptr<T>();
  auto* gradient = into.gradients.mutable_data_ptr<T>();
  for (std::int64_t r = 0; r < rows; ++r, gradient += classes) {
    const auto label = known[r];
    T value = 0, counted = 0;
    if (label == o.ignored) {
      std::fill_n(gradient, classes, T(0));
    } else {
      FewScores<T> row{given + r * classes, classes};
      row.normalize();
      value = static_cast<T>(row_value(row, weights, label, o));
      counted = static_cast<T>(weights[label]);
      row_gradient(gradient, row, weights, label, o);
    }
    values[r] = value;
    counts[r] = counted;
  }
}

/// Has the gradients of the values by the scores already.
class FewClassesNode final : public ChainNode {
 public:
  FewClassesNode(torch::autograd::edge_list&& edges, at::Tensor gradients)
      : ChainNode(std::move(edges)), gradients_(std::move(gradients)) {}

  const at::Tensor& gradients() const { return gradients_; }
  std::string name() const override { return "FewClasses"; }
  void release_variables() override { gradients_.reset(); }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& of_values) override {
    if (!of_values[0].defined()) return torch::autograd::variable_list(1);
    DDP_CHECK(gradients_.defined(), "a graph is used once");
    const auto gradients = std::exchange(gradients_, {});
    AT_DISPATCH_FLOATING_TYPES(gradients.scalar_type(), "few_classes_backward",
                               [&] { scale_rows<scalar_t>(gradients, of_values[0]); });
    return {gradients};
  }

 private:
  template <class T>
  static void scale_rows(const at::Tensor& gradients, const at::Tensor& of_values) {
    const auto rows = gradients.size(0), classes = gradients.size(1);
    const auto stride = of_values.stride(0);
    auto* row = gradients.mutable_data_ptr<T>();
    const auto* factor = of_values.const_data_ptr<T>();
    for (std::int64_t r = 0; r < rows; ++r, row += classes)
      for (std::int64_t c = 0; c < classes; ++c) row[c] *= factor[r * stride];
  }

  at::Tensor gradients_;  // [rows, classes]
};

bool is_small(const at::Tensor& scores, const at::Tensor& labels) {
  const auto type = scores.scalar_type();
  return scores.is_cpu() && (type == at::kFloat || type == at::kDouble) && scores.dim() == 2 &&
         scores.is_contiguous() && labels.dim() == 1 && labels.is_contiguous() &&
         labels.scalar_type() == at::kLong && labels.size(0) == scores.size(0) &&
         scores.size(1) > 0 && scores.size(1) <= kMostClasses && scores.numel() <= kMostScores &&
         at::GradMode::is_enabled() && scores.requires_grad();
}

bool are_classes(const at::Tensor& labels, std::int64_t classes, std::int64_t ignored) {
  const auto* first = labels.const_data_ptr<std::int64_t>();
  return std::all_of(first, first + labels.numel(), [&](std::int64_t label) {
    return label == ignored || (label >= 0 && label < classes);
  });
}

}  // namespace

std::optional<LossTerms> few_classes_loss(const at::Tensor& scores, const at::Tensor& labels,
                                          const at::Tensor& weight,
                                          const FewClassesOptions& options) {
  if (!is_small(scores, labels) || !are_classes(labels, scores.size(1), options.ignored)) return {};
  RECORD_FUNCTION("ddptrain::few_classes_loss", std::vector<c10::IValue>{});
  const auto rows = scores.size(0);
  const auto node = make_node<FewClassesNode>(torch::autograd::collect_next_edges(scores),
                                              at::empty(scores.sizes(), scores.options()));
  LossTerms terms;
  {
    const at::AutoDispatchBelowAutograd below;
    terms = {at::empty({rows}, scores.options()), at::empty({rows}, scores.options())};
    AT_DISPATCH_FLOATING_TYPES(scores.scalar_type(), "few_classes_loss", [&] {
      all_rows<scalar_t>(scores, labels, weight, options, {terms, node->gradients()});
    });
  }
  torch::autograd::set_history(terms.values, node);
  return terms;
}

}  // namespace ddptrain
