// torch.nn.SmoothL1Loss: square / (2 beta) below beta, difference - beta / 2 above.
#include <ATen/ops/smooth_l1_loss.h>

#include "losses/loss.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

class SmoothL1 final : public Loss {
 public:
  struct Options {
    double beta = 1;
    NumberScale scale;
    void fields(Fields& f) {
      f("beta", beta,
        {.doc = "Difference at which the square turns into a line; 0 is l1.", .min = 0});
      scale.fields(f);
    }
  };

  explicit SmoothL1(const Options& options) : beta_(options.beta), scale_(options.scale) {}

  LossTerms operator()(const at::Tensor& output, const at::Tensor& target) const override {
    return scale_.terms(output, target, [this](const at::Tensor& numbers, const at::Tensor& known) {
      return at::smooth_l1_loss(numbers, known, at::Reduction::None, beta_);
    });
  }

 private:
  double beta_;
  NumberScale scale_;
};

}  // namespace

Entry<Loss> smooth_l1_loss() {
  return entry_of<Loss, SmoothL1>(
      "smooth_l1", "Squared difference divided by beta near the target, absolute further out.",
      {"takes_number", "takes_points"});
}

}  // namespace ddptrain
