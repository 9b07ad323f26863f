#include "losses/few_classes.h"

#include <ATen/Dispatch.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/function.h"

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

/// Terms, and the gradient of each value by its row of scores.
template <class T>
void all_rows(const at::Tensor& scores, const at::Tensor& labels, const at::Tensor& weight,
              const FewClassesOptions& o, const LossTerms& terms, const at::Tensor& gradients) {
  const auto classes = scores.size(1);
  const FewWeights<T> weights(weight, classes);
  for (std::int64_t r = 0; r < scores.size(0); ++r) {
    const auto label = labels.const_data_ptr<std::int64_t>()[r];
    auto* gradient = gradients.mutable_data_ptr<T>() + r * classes;
    T value = 0, counted = 0;
    if (label == o.ignored) {
      std::fill_n(gradient, classes, T(0));
    } else {
      FewScores<T> row{scores.const_data_ptr<T>() + r * classes, classes};
      row.normalize();
      value = static_cast<T>(row_value(row, weights, label, o));
      counted = static_cast<T>(weights[label]);
      row_gradient(gradient, row, weights, label, o);
    }
    terms.values.mutable_data_ptr<T>()[r] = value;
    terms.weights.mutable_data_ptr<T>()[r] = counted;
  }
}

/// Values that were computed already, and so were their gradients by the scores.
class FewClassesFunction final : public AutogradFunction {
 public:
  FewClassesFunction(at::Tensor values, at::Tensor gradients)
      : values_(std::move(values)), gradients_(std::move(gradients)) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>&) override {
    context.save({std::exchange(gradients_, {})});
    return std::exchange(values_, {});
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    return {context.saved()[0].mul(gradient.unsqueeze(1))};
  }

 private:
  at::Tensor values_, gradients_;  // until the forward pass
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
  LossTerms terms{at::empty({rows}, scores.options()), at::empty({rows}, scores.options())};
  const auto gradients = at::empty(scores.sizes(), scores.options());
  AT_DISPATCH_FLOATING_TYPES(scores.scalar_type(), "few_classes_loss", [&] {
    all_rows<scalar_t>(scores, labels, weight, options, terms, gradients);
  });
  terms.values =
      apply_function(c10::make_intrusive<FewClassesFunction>(terms.values, gradients), {scores});
  return terms;
}

}  // namespace ddptrain
