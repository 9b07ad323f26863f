// Share of units whose target is among the k largest scores (fastai.metrics.top_k_accuracy). Among
// equal scores the first class comes first, so that top_k with k 1 is accuracy.
#include <ATen/ops/arange.h>
#include <fmt/format.h>

#include "base/error.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class TopK final : public Metric {
 public:
  struct Options {
    std::int64_t k = 5;
    void fields(Fields& f) {
      f("k", k, {.doc = "How many of the largest scores may hold the target.", .min = 1});
    }
  };

  TopK(const Options& options, const MetricContext& context)
      : k_(options.k), void_code_(context.void_code) {
    const auto classes = static_cast<std::int64_t>(context.classes.size());
    if (classes > 0 && k_ > classes)
      throw Error(Exit::recipe, Option{"metrics"}, "top_k.k: {} is more than the {} classes", k_,
                  classes);
  }

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto given = labels_of(target, output.select(1, 0));
    const auto counted = scored(given, void_code_);
    // A label that is not scored may be no class.
    const auto labels = (counted.defined() ? given.mul(counted) : given).unsqueeze(1);
    const auto score = output.gather(1, labels);
    std::vector<std::int64_t> along(static_cast<std::size_t>(output.dim()), 1);
    along[1] = output.size(1);
    const auto index = at::arange(output.size(1), labels.options()).view(along);
    const auto before = output.gt(score).logical_or(output.eq(score).logical_and(index.lt(labels)));
    const auto known = score.eq(score).squeeze(1);  // a score that is not a number is never right
    return count_true(before.sum(1).lt(k_).logical_and(known), counted);
  }
  Values values(const Terms& total) const override {
    return {{fmt::format("top_{}", k_), ratio(total)}};
  }

 private:
  std::int64_t k_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> top_k_metric() {
  return entry_of<Metric, TopK>(
      "top_k", "Share of rows (or pixels) whose target is among the k largest scores.",
      {"larger_is_better", "at_most_1", "named top_{k}", "takes_class", "takes_token",
       "takes_mask"});
}

}  // namespace ddptrain
