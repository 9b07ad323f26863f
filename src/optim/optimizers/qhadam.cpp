// Quasi-hyperbolic Adam (arXiv 1810.06801) as fastai has it.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <cmath>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Qhadam final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common;
    std::vector<double> betas{0.999, 0.999};
    std::vector<double> nus{0.7, 1.0};
    double eps = 1e-8;
    bool decoupled_weight_decay = true;

    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("nus", nus,
        {.doc = "Shares of the running means of gradient and square; the rest is this step's.",
         .min = 0,
         .max = 1,
         .min_items = 2,
         .max_items = 2});
      f("eps", eps, {.doc = "Added to the root of the mean square.", .min = 0});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights rather than add to the gradient."});
    }
  };

  Qhadam(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"exp_avg", "exp_avg_sq"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  void update(const Update& u) override {
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    const double beta2 = options_.betas[1];
    if (options_.decoupled_weight_decay) decay_parameters(u);
    const auto gradients = descent(u, false, options_.decoupled_weight_decay ? 0 : u.weight_decay);
    running_mean(u.state[0], gradients, beta1);
    running_mean_of_squares(u.state[1], gradients, beta2);
    const auto updates = mixed(gradients, u.state[0], options_.nus[0], beta1, u.step);
    const auto squares = at::_foreach_mul(gradients, gradients);
    auto roots = mixed(squares, u.state[1], options_.nus[1], beta2, u.step);
    at::_foreach_sqrt_(roots);
    at::_foreach_add_(roots, options_.eps);
    at::_foreach_addcdiv_(u.parameters, updates, roots, -u.lr);
  }

  /// (1 - nu) x what is new + nu x the running mean without the bias of its start.
  static std::vector<at::Tensor> mixed(const std::vector<at::Tensor>& fresh,
                                       const std::vector<at::Tensor>& mean, double nu, double beta,
                                       std::int64_t step) {
    auto sum = at::_foreach_mul(fresh, 1 - nu);
    at::_foreach_add_(sum, mean, nu / (1 - std::pow(beta, static_cast<double>(step))));
    return sum;
  }

  Options options_;
};

Entry<Optimizer> qhadam() {
  return entry_of<Optimizer, Qhadam>(
      "qhadam", "Adam that mixes each gradient with its running mean; defaults are fastai's.",
      {"momentum"});
}

}  // namespace ddptrain
