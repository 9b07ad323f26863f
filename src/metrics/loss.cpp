// The mean loss: sum of values over sum of weights, both over the whole split.
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class MeanLoss final : public Metric {
 public:
  at::Tensor sums(const at::Tensor&, const at::Tensor&, const LossTerms& loss) const override {
    return together({loss.values.sum(at::kDouble), loss.weights.sum(at::kDouble)});
  }
  Values values(const Terms& total) const override { return {{"loss", ratio(total)}}; }
};

}  // namespace

Entry<Metric> loss_metric() {
  return entry_of<Metric, MeanLoss>("loss", "The mean of the loss over everything that counts.",
                                    {"smaller_is_better"});
}

}  // namespace ddptrain
