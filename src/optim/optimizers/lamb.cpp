// LAMB (arXiv 1904.00962) as timm has it; every difference to fastai's Lamb is an option.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "base/names.h"
#include "optim/optimizers/steps.h"

namespace ddptrain {

class Lamb final : public Stateful {
 public:
  enum class Decay { update, weights, gradient };
  friend std::span<const std::string_view> names(Decay) {
    return kNameList<"update", "weights", "gradient">;
  }

  struct Options {
    OptimizerCommon common{.weight_decay = 1e-2};
    std::vector<double> betas{0.9, 0.999};
    double eps = 1e-6;
    Decay decay_in = Decay::update;
    std::optional<double> max_grad_norm = 1.0;
    std::optional<double> max_trust;
    bool always_adapt = false;

    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("eps", eps, {.doc = "Added to the debiased root of the mean square.", .min = 0});
      f("decay_in", decay_in,
        {.doc = "Where weight decay goes: the update before it is scaled (timm), the weights "
                "(fastai), or the gradient (fastai without decoupling)."});
      f("max_grad_norm", max_grad_norm,
        {.doc = "Norm of all gradients together is clipped to this (timm: 1); null (fastai): not.",
         .min = 0,
         .above_min = true});
      f("max_trust", max_trust,
        {.doc = "Largest ratio of weight norm to update norm (fastai: 10, timm's trust_clip: 1).",
         .min = 0,
         .above_min = true});
      f("always_adapt", always_adapt,
        {.doc = "Scale parameters without weight decay as well (fastai does, timm does not)."});
    }
  };

  Lamb(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"exp_avg", "exp_avg_sq"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }
  void share(const SharedGradients& shared) override { shared_ = shared; }

 private:
  void prepare(std::span<const Update> updates) override {
    if (!options_.max_grad_norm || (updates.empty() && !shared_.ranks)) return;
    std::vector<at::Tensor> all;
    for (const auto& u : updates) all.insert(all.end(), u.gradients.begin(), u.gradients.end());
    clip_ = (gradient_norm(all, 2, shared_) / *options_.max_grad_norm).clamp_min(1);
  }

  void update(const Update& u) override {
    if (options_.decay_in == Decay::weights) decay_parameters(u);
    auto gradients = descent(u, false, options_.decay_in == Decay::gradient ? u.weight_decay : 0);
    if (options_.max_grad_norm) gradients = at::_foreach_div(gradients, clip_);
    const auto updates = adam_update(u, gradients);
    if (options_.decay_in == Decay::update && u.weight_decay != 0)
      at::_foreach_add_(updates, u.parameters, u.weight_decay);
    if (u.weight_decay != 0 || options_.always_adapt)
      scale_each(updates, trust(norms(u.parameters), norms(updates)));
    at::_foreach_add_(u.parameters, updates, -u.lr);
  }

  std::vector<at::Tensor> adam_update(const Update& u, const std::vector<at::Tensor>& gradients) {
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    const double beta2 = options_.betas[1];
    const auto step = static_cast<double>(u.step);
    running_mean(u.state[0], gradients, beta1);
    running_mean_of_squares(u.state[1], gradients, beta2);
    auto roots = at::_foreach_sqrt(u.state[1]);
    at::_foreach_div_(roots, std::sqrt(1 - std::pow(beta2, step)));
    at::_foreach_add_(roots, options_.eps);
    auto updates = at::_foreach_div(u.state[0], 1 - std::pow(beta1, step));
    at::_foreach_div_(updates, roots);
    return updates;
  }

  /// Weight norm over update norm; 1 where either is 0.
  at::Tensor trust(const at::Tensor& weights, const at::Tensor& updates) const {
    const auto usable = (weights > 0).logical_and(updates > 0);
    const auto ratio = at::where(usable, weights / updates, 1);
    return options_.max_trust ? ratio.clamp_max(*options_.max_trust) : ratio;
  }

  Options options_;
  SharedGradients shared_;
  at::Tensor clip_;
};

Entry<Optimizer> lamb() {
  return entry_of<Optimizer, Lamb>(
      "lamb", "Adam scaled layer by layer, for large batches; defaults are timm's.",
      {"momentum", "whole_parameters"});
}

}  // namespace ddptrain
