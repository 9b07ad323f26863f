// torch.nn.utils.clip_grad_norm_: all gradients as one vector of a largest length.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>
#include <optional>

#include "optim/clip.h"
#include "optim/scaling.h"

namespace ddptrain {
namespace {

class NormClip final : public Clip {
 public:
  struct Options {
    double max = 1;
    std::optional<double> p = 2;
    void fields(Fields& f) {
      f("max", max, {.doc = "The largest norm.", .min = 0, .above_min = true, .required = true});
      f("p", p,
        {.doc = "Which norm: 2 is the length, 1 the sum of absolute values; null takes the largest "
                "absolute value.",
         .min = 0,
         .above_min = true});
    }
  };

  explicit NormClip(const Options& options)
      : max_(options.max), p_(options.p.value_or(std::numeric_limits<double>::infinity())) {}

  /// One pass reads the gradients and, only where there is something to do, one scales them.
  double operator()(const std::vector<at::Tensor>& gradients, double scale) const override {
    if (is_of_none(gradients)) return 0;
    const auto norm = gradient_norm(gradients, p_, shared()).mul(std::abs(scale));
    const auto both = at::stack({norm, norm.add(1e-6).reciprocal().mul(max_)}).to(at::kCPU);
    const double fit = both[1].item<double>();
    const double factor = fit > 1 ? scale : scale * fit;  // not a number stays one, as in torch
    if (factor != 1 && !gradients.empty()) at::_foreach_mul_(gradients, factor);
    return both[0].item<double>();
  }

  at::Tensor operator()(const std::vector<at::Tensor>& gradients, const at::Tensor& scale,
                        at::Tensor& overflow) const override {
    if (is_of_none(gradients)) return {};
    const auto raw = gradient_norm(gradients, p_, shared());
    const auto norm = raw.mul(scale.abs().to(raw.scalar_type()));
    const auto fit = norm.add(1e-6).reciprocal().mul(max_).clamp_max(1);
    scale_gradients(gradients, scale * fit, overflow);
    return norm;
  }

 private:
  bool is_of_none(const std::vector<at::Tensor>& gradients) const {
    return gradients.empty() && !shared().ranks;
  }

  double max_;
  double p_;
};

}  // namespace

Entry<Clip> norm_clip() {
  return entry_of<Clip, NormClip>(
      "norm", "Scales all gradients together so that their norm is at most `max`.");
}

}  // namespace ddptrain
