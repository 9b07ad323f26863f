// Adam as torch.optim.Adam has it (fused kernel); fastai's Adam is the same step with other
// defaults.
#include "optim/optimizers/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>

#include "optim/optimizers/momentum_there.h"

namespace ddptrain {

class Adam final : public Stateful {
 public:
  struct Options : AdamOptions {
    void fields(Fields& f) {
      adam_fields(f, *this);
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights, as adamw does, rather than add to the gradient."});
    }
  };

  Adam(const AdamOptions& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), state_names(options)), options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  static StateNames state_names(const AdamOptions& options) {
    StateNames names{.step = true, .slots = {"exp_avg", "exp_avg_sq"}};
    if (options.amsgrad) names.slots.push_back("max_exp_avg_sq");
    return names;
  }

  /// The kernel wants the step numbers where the parameters are.
  static std::vector<at::Tensor> steps_on_device(const Update& u) {
    if (u.parameters.front().is_cpu()) return u.steps;
    return std::vector<at::Tensor>(u.parameters.size(), step_on_device(u));
  }

  static at::Tensor step_on_device(const Update& u) {
    if (u.step_there.defined()) return u.step_there;
    const auto device = u.parameters.front().device();
    return at::full({}, u.step, at::TensorOptions().dtype(at::kFloat).device(device));
  }

  void update(const Update& u) override {
    if (u.momentum_there.defined())
      adam_step(u, step_on_device(u),
                {options_.betas[1], options_.eps, options_.amsgrad, options_.maximize,
                 options_.decoupled_weight_decay});
    else if (u.rate_there.defined())
      update(u, u.rate_there);
    else
      update(u, u.lr);
  }

  template <class Rate>
  void update(const Update& u, const Rate& rate) {
    const auto kernel = [&](auto fused) {
      fused(u.parameters, u.gradients, u.state[0], u.state[1],
            options_.amsgrad ? u.state[2] : std::vector<at::Tensor>{}, steps_on_device(u), rate,
            u.momentum.value_or(options_.betas[0]), options_.betas[1], u.weight_decay, options_.eps,
            options_.amsgrad, options_.maximize, std::optional<at::Tensor>(), found_inf(u));
    };
    if (options_.decoupled_weight_decay)
      kernel([](const auto&... arguments) { at::_fused_adamw_(arguments...); });
    else
      kernel([](const auto&... arguments) { at::_fused_adam_(arguments...); });
  }

  bool heeds_refusal() const override { return true; }
  bool reads_momentum_there() const override { return true; }

  AdamOptions options_;
};

void adam_fields(Fields& f, AdamOptions& options) {
  options.common.fields(f);
  betas_field(f, options.betas);
  f("eps", options.eps, {.doc = "Added to the root of the mean square.", .min = 0});
  f("amsgrad", options.amsgrad, {.doc = "Divide by the largest mean square so far."});
  f("maximize", options.maximize, {.doc = "Climb instead of descend."});
}

std::unique_ptr<Optimizer> make_adam(const AdamOptions& options,
                                     std::vector<ParameterGroup> groups) {
  return std::make_unique<Adam>(options, std::move(groups));
}

Entry<Optimizer> adam() {
  return entry<Optimizer, Adam::Options>("adam", "Adam; defaults are PyTorch's.", make_adam,
                                         {"momentum"});
}

}  // namespace ddptrain
