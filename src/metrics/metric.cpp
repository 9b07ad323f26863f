#include "metrics/metric.h"

#include "base/error.h"

namespace ddptrain {

Metric::Terms Metric::terms(const at::Tensor& output, const at::Tensor& target,
                            const LossTerms& loss) const {
  const auto here = sums(output, target, loss).cpu().contiguous();
  return {here.const_data_ptr<double>(), here.const_data_ptr<double>() + here.numel()};
}

void Metric::add(Terms& total, const Terms& batch) const {
  if (total.empty()) {
    total = batch;
    return;
  }
  DDP_CHECK(total.size() == batch.size(), "terms of one metric differ in number");
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += batch[i];
}

}  // namespace ddptrain
