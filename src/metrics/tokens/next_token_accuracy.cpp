// Share of tokens that the model finds the most probable ones.
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class NextTokenAccuracy final : public Metric {
 public:
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output);
    return count_true(guess.eq(labels_of(target, guess)));
  }
  Values values(const Terms& total) const override {
    return {{"next_token_accuracy", ratio(total)},
            {"next_token_accuracy/tokens", total.empty() ? 0 : total[1]}};
  }
};

}  // namespace

Entry<Metric> next_token_accuracy_metric() {
  return entry_of<Metric, NextTokenAccuracy>(
      "next_token_accuracy",
      "Share of tokens whose score is the largest at their place, and the number of tokens.",
      {"larger_is_better", "at_most_1", "takes_token"});
}

}  // namespace ddptrain
