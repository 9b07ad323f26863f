// torch.nn.HuberLoss: square / 2 below delta, delta * (difference - delta / 2) above.
#include <ATen/ops/huber_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class Huber final : public Loss {
 public:
  struct Options {
    double delta = 1;
    NumberScale scale;
    void fields(Fields& f) {
      f("delta", delta,
        {.doc = "Difference at which the square turns into a line.", .min = 0, .above_min = true});
      scale.fields(f);
    }
  };

  explicit Huber(const Options& options) : delta_(options.delta), scale_(options.scale) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return scale_.terms(output, target, [this](const at::Tensor& numbers, const at::Tensor& known) {
      return at::huber_loss(numbers, known, at::Reduction::None, delta_);
    });
  }

 private:
  double delta_;
  NumberScale scale_;
};

}  // namespace

Entry<Loss> huber_loss() {
  return entry_of<Loss, Huber>(
      "huber", "Squared difference near the target, delta times the absolute one further out.",
      {"takes_number", "takes_points"});
}

}  // namespace ddptrain
