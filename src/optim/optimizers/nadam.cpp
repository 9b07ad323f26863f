// NAdam as torch.optim.NAdam has it.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/ones.h>

#include <cmath>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Nadam final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 2e-3};
    std::vector<double> betas{0.9, 0.999};
    double eps = 1e-8;
    double momentum_decay = 4e-3;
    bool decoupled_weight_decay = false;
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("eps", eps, {.doc = "Added to the root of the mean square.", .min = 0});
      f("momentum_decay", momentum_decay,
        {.doc = "How fast the momentum rises to its full value.", .min = 0});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights rather than add to the gradient."});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Nadam(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"mu_product", "exp_avg", "exp_avg_sq"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  /// The product of the momenta so far is one number per parameter.
  at::Tensor first_state(std::size_t slot, const at::Tensor& parameter) const override {
    return slot == 0 ? at::ones({}, at::kFloat) : Stateful::first_state(slot, parameter);
  }

  void update(const Update& u) override {
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    const double beta2 = options_.betas[1];
    if (options_.decoupled_weight_decay) decay_parameters(u);
    const auto gradients =
        descent(u, options_.maximize, options_.decoupled_weight_decay ? 0 : u.weight_decay);
    running_mean(u.state[1], gradients, beta1);
    running_mean_of_squares(u.state[2], gradients, beta2);
    auto roots = at::_foreach_div(u.state[2], 1 - std::pow(beta2, static_cast<double>(u.step)));
    at::_foreach_sqrt_(roots);
    at::_foreach_add_(roots, options_.eps);
    const double now = momentum_of(beta1, u.step);
    const double next = momentum_of(beta1, u.step + 1);
    for (std::size_t i = 0; i < u.parameters.size(); ++i) {
      const double product = u.state[0][i].mul_(now).item<double>();
      u.parameters[i].addcdiv_(gradients[i], roots[i], -u.lr * (1 - now) / (1 - product));
      u.parameters[i].addcdiv_(u.state[1][i], roots[i], -u.lr * next / (1 - product * next));
    }
  }

  double momentum_of(double beta1, std::int64_t step) const {
    const double power = static_cast<double>(step) * options_.momentum_decay;
    return beta1 * (1 - 0.5 * std::pow(0.96, power));
  }

  Options options_;
};

Entry<Optimizer> nadam() {
  return entry_of<Optimizer, Nadam>("nadam", "Adam with Nesterov momentum; defaults are PyTorch's.",
                                    {"momentum"});
}

}  // namespace ddptrain
