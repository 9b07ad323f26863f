// torch.nn.utils.clip_grad_value_: each entry of the gradients by itself.
#include <ATen/ops/_foreach_clamp_max.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_mul.h>

#include <limits>

#include "optim/clip.h"
#include "optim/scaling.h"

namespace ddptrain {
namespace {

class ValueClip final : public Clip {
 public:
  struct Options {
    double max = 1;
    void fields(Fields& f) {
      f("max", max,
        {.doc = "The largest absolute value.", .min = 0, .above_min = true, .required = true});
    }
  };

  explicit ValueClip(const Options& options) : max_(options.max) {}

  double operator()(const std::vector<at::Tensor>& gradients, double scale) const override {
    if (!gradients.empty()) {
      if (scale != 1) at::_foreach_mul_(gradients, scale);
      clamp(gradients);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  at::Tensor operator()(const std::vector<at::Tensor>& gradients, const at::Tensor& scale,
                        at::Tensor& overflow) const override {
    scale_gradients(gradients, scale, overflow);
    if (!gradients.empty()) clamp(gradients);
    return {};
  }

 private:
  void clamp(const std::vector<at::Tensor>& gradients) const {
    at::_foreach_clamp_min_(gradients, -max_);
    at::_foreach_clamp_max_(gradients, max_);
  }

  double max_;
};

}  // namespace

Entry<Clip> value_clip() {
  return entry_of<Clip, ValueClip>("value", "Clips each entry of the gradients to -max .. max.");
}

}  // namespace ddptrain
