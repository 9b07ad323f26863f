// exp(mean loss): for a cross entropy, the perplexity (fastai.metrics.Perplexity).
#include <cmath>

#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class Perplexity final : public Metric {
 public:
  at::Tensor sums(const at::Tensor&, const at::Tensor&, const LossTerms& loss) const override {
    return together({loss.values.sum(at::kDouble), loss.weights.sum(at::kDouble)});
  }
  Values values(const Terms& total) const override {
    return {{"perplexity", std::exp(ratio(total))}};
  }
};

}  // namespace

Entry<Metric> perplexity_metric() {
  return entry<Metric, NoOptions>(
      "perplexity", "The exponential of the mean loss, for a loss that is a cross entropy.",
      [](const NoOptions&, const MetricContext&) { return std::make_unique<Perplexity>(); },
      {"smaller_is_better", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
