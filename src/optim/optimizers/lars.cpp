// LARS (arXiv 1708.03888) as timm has it: gradient descent scaled layer by layer.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/where.h>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Lars final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 1};
    double momentum = 0;
    double dampening = 0;
    bool nesterov = false;
    double trust_coeff = 1e-3;
    double eps = 1e-8;
    bool trust_clip = false;
    bool always_adapt = false;

    void fields(Fields& f) {
      common.fields(f);
      f("momentum", momentum,
        {.doc = "Momentum; 0 is plain descent.", .min = 0, .max = 1, .below_max = true});
      f("dampening", dampening,
        {.doc = "Share of a gradient that the momentum leaves out.", .min = 0, .max = 1});
      f("nesterov", nesterov, {.doc = "Look ahead along the momentum."});
      f("trust_coeff", trust_coeff,
        {.doc = "Step of a layer as a share of its weights' norm.", .min = 0});
      f("eps", eps, {.doc = "Added to the norm that is divided by.", .min = 0});
      f("trust_clip", trust_clip, {.doc = "Never more than the plain rate (LARC)."});
      f("always_adapt", always_adapt, {.doc = "Scale parameters without weight decay as well."});
    }
  };

  Lars(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), state_names(options)), options_(options) {}

  std::optional<double> momentum() const override {
    return options_.momentum > 0 ? std::optional(options_.momentum) : std::nullopt;
  }

 private:
  static StateNames state_names(const Options& options) {
    if (options.momentum > 0) return {.slots = {"momentum_buffer"}};
    return {};
  }

  void update(const Update& u) override {
    auto directions = u.gradients;
    if (u.weight_decay != 0 || options_.always_adapt) {
      directions = at::_foreach_add(u.gradients, u.parameters, u.weight_decay);
      scale_each(directions, trust(u));
    }
    if (options_.momentum > 0) directions = with_momentum(u, directions);
    at::_foreach_add_(u.parameters, directions, -u.lr);
  }

  at::Tensor trust(const Update& u) const {
    const auto weights = norms(u.parameters);
    const auto gradients = norms(u.gradients);
    const auto whole = gradients + weights * u.weight_decay + options_.eps;
    const auto usable = (weights > 0).logical_and(gradients > 0);
    const auto ratio = at::where(usable, weights * options_.trust_coeff / whole, 1);
    return options_.trust_clip ? (ratio / u.lr).clamp_max(1) : ratio;
  }

  std::vector<at::Tensor> with_momentum(const Update& u,
                                        const std::vector<at::Tensor>& directions) {
    const double momentum = u.momentum.value_or(options_.momentum);
    const auto& buffers = u.state[0];
    if (u.step == 1) {
      at::_foreach_copy_(buffers, directions);
    } else {
      at::_foreach_mul_(buffers, momentum);
      at::_foreach_add_(buffers, directions, 1 - options_.dampening);
    }
    return options_.nesterov ? at::_foreach_add(directions, buffers, momentum) : buffers;
  }

  Options options_;
};

Entry<Optimizer> lars() {
  return entry_of<Optimizer, Lars>(
      "lars", "Gradient descent scaled layer by layer, for large batches; defaults are timm's.",
      {"momentum", "keeps_momentum_alone", "whole_parameters", "usual_lr 100"});
}

}  // namespace ddptrain
