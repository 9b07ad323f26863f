// Rectified Adam as torch.optim.RAdam has it, or with fastai's place of eps and its softplus.
#include "optim/optimizers/radam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/softplus.h>

#include <cmath>

#include "optim/optimizers/steps.h"

namespace ddptrain {

double radam_rectification(std::int64_t step, double beta2) {
  const double longest = 2 / (1 - beta2) - 1;
  const double power = std::pow(beta2, static_cast<double>(step));
  const double length = longest - 2 * static_cast<double>(step) * power / (1 - power);
  if (length <= 5) return 0;
  return std::sqrt((length - 4) * (length - 2) * longest /
                   ((longest - 4) * (longest - 2) * length));
}

class Radam final : public Stateful {
 public:
  struct Options : RadamOptions {
    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("eps", eps, {.doc = "Added to the root of the mean square.", .min = 0});
      f("eps_after_debias", eps_after_debias,
        {.doc = "Add eps to the debiased root (fastai) rather than before (PyTorch)."});
      f("softplus", softplus,
        {.doc = "Beta of a softplus over the root, fastai's beta; 0 is none.", .min = 0});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights (fastai) rather than add to the gradient (PyTorch)."});
    }
  };

  Radam(const RadamOptions& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"exp_avg", "exp_avg_sq"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  void update(const Update& u) override {
    if (options_.decoupled_weight_decay) decay_parameters(u);
    const auto gradients =
        descent(u, options_.maximize, options_.decoupled_weight_decay ? 0 : u.weight_decay);
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    const double beta2 = options_.betas[1];
    const auto step = static_cast<double>(u.step);
    running_mean(u.state[0], gradients, beta1);
    running_mean_of_squares(u.state[1], gradients, beta2);

    const double rate = u.lr / (1 - std::pow(beta1, step));
    const double rectification = radam_rectification(u.step, beta2);
    if (rectification == 0) {
      at::_foreach_add_(u.parameters, u.state[0], -rate);
      return;
    }
    const double debias = std::sqrt(1 - std::pow(beta2, step));
    const double numerator = options_.eps_after_debias ? 1 : debias;
    at::_foreach_addcdiv_(u.parameters, u.state[0], denominators(u, debias),
                          -rate * rectification * numerator);
  }

  std::vector<at::Tensor> denominators(const Update& u, double debias) const {
    auto roots = at::_foreach_sqrt(u.state[1]);
    if (options_.eps_after_debias) at::_foreach_mul_(roots, 1 / debias);
    at::_foreach_add_(roots, options_.eps);
    if (options_.softplus > 0)
      for (auto& root : roots) root = at::softplus(root, options_.softplus);
    return roots;
  }

  RadamOptions options_;
};

std::unique_ptr<Optimizer> make_radam(const RadamOptions& options,
                                      std::vector<ParameterGroup> groups) {
  return std::make_unique<Radam>(options, std::move(groups));
}

Entry<Optimizer> radam() {
  return entry<Optimizer, Radam::Options>(
      "radam", "Adam with a rectified start; defaults are PyTorch's.", make_radam, {"momentum"});
}

}  // namespace ddptrain
