// LARC as fastai has it: a rate of its own for each layer, at most the plain one.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Larc final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common;
    double momentum = 0.9;
    double trust_coeff = 0.02;
    double eps = 1e-8;
    bool clip = true;
    bool decoupled_weight_decay = true;

    void fields(Fields& f) {
      common.fields(f);
      f("momentum", momentum,
        {.doc = "Momentum; 0 is plain descent.", .min = 0, .max = 1, .below_max = true});
      f("trust_coeff", trust_coeff,
        {.doc = "Step of a layer as a share of its weights' norm.", .min = 0});
      f("eps", eps, {.doc = "Added to the norm that is divided by.", .min = 0});
      f("clip", clip, {.doc = "Never more than the plain rate; false is fastai's LARS."});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights rather than add to the gradient."});
    }
  };

  Larc(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), state_names(options)), options_(options) {}

  std::optional<double> momentum() const override {
    return options_.momentum > 0 ? std::optional(options_.momentum) : std::nullopt;
  }

 private:
  static StateNames state_names(const Options& options) {
    if (options.momentum > 0) return {.slots = {"grad_avg"}};
    return {};
  }

  void update(const Update& u) override {
    if (options_.decoupled_weight_decay) decay_parameters(u);
    const auto gradients = descent(u, false, options_.decoupled_weight_decay ? 0 : u.weight_decay);
    auto directions = gradients;
    if (options_.momentum > 0) {
      at::_foreach_mul_(u.state[0], u.momentum.value_or(options_.momentum));
      at::_foreach_add_(u.state[0], gradients);
      directions = u.state[0];
    }
    const auto steps = at::_foreach_mul(directions, rates(u, gradients).unbind());
    at::_foreach_add_(u.parameters, steps, -1);
  }

  at::Tensor rates(const Update& u, const std::vector<at::Tensor>& gradients) const {
    const auto weights = norms(u.parameters);
    const auto whole = norms(gradients) + weights * u.weight_decay + options_.eps;
    const auto local = weights * (u.lr * options_.trust_coeff) / whole;
    return options_.clip ? local.clamp_max(u.lr) : local;
  }

  Options options_;
};

Entry<Optimizer> larc() {
  return entry_of<Optimizer, Larc>(
      "larc", "Gradient descent with a rate for each layer; defaults are fastai's.",
      {"momentum", "keeps_momentum_alone", "whole_parameters", "usual_lr 50"});
}

}  // namespace ddptrain
