// Cross-entropy of the tokens that stand for bytes of text, in bits for each of these bytes: it
// does not depend on how a tokenizer cuts (Gao et al. 2020, The Pile, section 3.1).
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>

#include "losses/rows.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class BitsPerByte final : public Metric {
 public:
  explicit BitsPerByte(const MetricContext& context) {
    if (context.tokens) bytes_ = at::tensor(context.tokens->bytes, at::kInt).to(at::kDouble);
  }

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto labels = target.to(at::kLong);
    const auto nats =
        at::cross_entropy_loss(full_precision(output), labels, {}, at::Reduction::None);
    const auto bytes = bytes_on(labels.device()).index_select(0, labels);
    const auto counts = bytes.gt(0);
    return together({nats.mul(counts).sum(at::kDouble), bytes.sum(), counts.sum(at::kDouble)});
  }
  Values values(const Terms& total) const override {
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    const bool any = !total.empty() && total[1] > 0;
    return {{"bits_per_byte", any ? total[0] / std::log(2.0) / total[1] : nan},
            {"bits_per_byte/bytes", total.empty() ? 0 : total[1]},
            {"bits_per_byte/tokens", total.empty() ? 0 : total[2]}};
  }

 private:
  /// Copied once, without a wait.
  at::Tensor bytes_on(at::Device device) const {
    if (device.is_cpu()) return bytes_;
    if (!there_.defined() || there_.device() != device)
      there_ = bytes_.pin_memory().to(device, /*non_blocking=*/true);
    return there_;
  }

  at::Tensor bytes_;  // double [vocabulary]
  mutable at::Tensor there_;
};

}  // namespace

Entry<Metric> bits_per_byte_metric() {
  return entry_of<Metric, BitsPerByte>(
      "bits_per_byte",
      "Bits that the model needs for a byte of text, over the tokens that stand for bytes, and how "
      "many bytes and tokens these are.",
      {"smaller_is_better", "takes_token"});
}

}  // namespace ddptrain
