// RMSprop as torch.optim.RMSprop has it, and with the momentum of fastai's RMSProp.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include "base/names.h"
#include "optim/optimizers/steps.h"

namespace ddptrain {

class Rmsprop final : public Stateful {
 public:
  enum class Of { update, gradient };
  friend std::span<const std::string_view> names(Of) { return kNameList<"update", "gradient">; }

  struct Options {
    OptimizerCommon common{.lr = 1e-2};
    double alpha = 0.99;
    double eps = 1e-8;
    double momentum = 0;
    Of momentum_of = Of::update;
    bool centered = false;
    bool maximize = false;
    bool decoupled_weight_decay = false;

    void fields(Fields& f) {
      common.fields(f);
      f("alpha", alpha,
        {.doc = "Decay rate of the mean square of the gradient.", .min = 0, .max = 1});
      f("eps", eps, {.doc = "Added to the root of the mean square.", .min = 0});
      f("momentum", momentum,
        {.doc = "Momentum; 0 is none.", .min = 0, .max = 1, .below_max = true});
      f("momentum_of", momentum_of,
        {.doc = "What has momentum: the scaled update (PyTorch) or the gradient (fastai)."});
      f("centered", centered, {.doc = "Divide by the deviation rather than the root mean square."});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights (fastai) rather than add to the gradient (PyTorch)."});
    }
  };

  Rmsprop(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), state_names(options)), options_(options) {}

  std::optional<double> momentum() const override {
    return options_.momentum > 0 ? std::optional(options_.momentum) : std::nullopt;
  }

 private:
  static StateNames state_names(const Options& options) {
    StateNames names{.step = true, .slots = {"square_avg"}};
    if (options.momentum > 0) names.slots.push_back("momentum_buffer");
    if (options.centered) names.slots.push_back("grad_avg");
    return names;
  }

  void update(const Update& u) override {
    if (options_.decoupled_weight_decay) decay_parameters(u);
    const auto gradients =
        descent(u, options_.maximize, options_.decoupled_weight_decay ? 0 : u.weight_decay);
    running_mean_of_squares(u.state[0], gradients, options_.alpha);
    const auto scales = denominators(u, gradients);
    if (options_.momentum == 0) {
      at::_foreach_addcdiv_(u.parameters, gradients, scales, -u.lr);
      return;
    }
    const auto& buffers = u.state[1];
    at::_foreach_mul_(buffers, u.momentum.value_or(options_.momentum));
    if (options_.momentum_of == Of::update) {
      at::_foreach_addcdiv_(buffers, gradients, scales);
      at::_foreach_add_(u.parameters, buffers, -u.lr);
    } else {
      at::_foreach_add_(buffers, gradients);
      at::_foreach_addcdiv_(u.parameters, buffers, scales, -u.lr);
    }
  }

  std::vector<at::Tensor> denominators(const Update& u,
                                       const std::vector<at::Tensor>& gradients) const {
    std::vector<at::Tensor> roots;
    if (options_.centered) {
      const auto& means = u.state.back();
      running_mean(means, gradients, options_.alpha);
      roots = at::_foreach_addcmul(u.state[0], means, means, -1);
      at::_foreach_sqrt_(roots);
    } else {
      roots = at::_foreach_sqrt(u.state[0]);
    }
    at::_foreach_add_(roots, options_.eps);
    return roots;
  }

  Options options_;
};

Entry<Optimizer> rmsprop() {
  return entry_of<Optimizer, Rmsprop>("rmsprop", "RMSprop; defaults are PyTorch's.", {"momentum"});
}

}  // namespace ddptrain
