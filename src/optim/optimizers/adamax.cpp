// Adamax as torch.optim.Adamax has it.
#include <ATen/ops/_foreach_abs.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_mul.h>

#include <cmath>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Adamax final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 2e-3};
    std::vector<double> betas{0.9, 0.999};
    double eps = 1e-8;
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("eps", eps, {.doc = "Added to each gradient's size.", .min = 0});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Adamax(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"exp_avg", "exp_inf"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  void update(const Update& u) override {
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    const auto gradients = descent(u, options_.maximize, u.weight_decay);
    running_mean(u.state[0], gradients, beta1);
    auto sizes = at::_foreach_abs(gradients);
    at::_foreach_add_(sizes, options_.eps);
    at::_foreach_mul_(u.state[1], options_.betas[1]);
    at::_foreach_clamp_min_(u.state[1], sizes);
    const double lr = u.lr / (1 - std::pow(beta1, static_cast<double>(u.step)));
    at::_foreach_addcdiv_(u.parameters, u.state[0], u.state[1], -lr);
  }

  Options options_;
};

Entry<Optimizer> adamax() {
  return entry_of<Optimizer, Adamax>(
      "adamax", "Adam with the largest recent gradient in place of its mean square; as PyTorch.",
      {"momentum"});
}

}  // namespace ddptrain
