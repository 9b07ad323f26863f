// exp(mean loss): for a cross entropy, the perplexity (fastai.metrics.Perplexity).
#include <cmath>

#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class Perplexity final : public Metric {
 public:
  explicit Perplexity(const MetricContext& context) : of_tokens_(context.tokens.has_value()) {}
  at::Tensor sums(const at::Tensor&, const at::Tensor&, const LossTerms& loss) const override {
    return together({loss.values.sum(at::kDouble), loss.weights.sum(at::kDouble)});
  }
  Values values(const Terms& total) const override {
    Values found{{"perplexity", std::exp(ratio(total))}};
    if (of_tokens_) found.emplace_back("perplexity/tokens", total.empty() ? 0 : total[1]);
    return found;
  }

 private:
  bool of_tokens_;
};

}  // namespace

Entry<Metric> perplexity_metric() {
  return entry_of<Metric, Perplexity>(
      "perplexity",
      "The exponential of the mean loss, for a loss that is a cross entropy; of tokens, their "
      "number too.",
      {"smaller_is_better", "takes_class", "takes_mask", "takes_token"});
}

}  // namespace ddptrain
