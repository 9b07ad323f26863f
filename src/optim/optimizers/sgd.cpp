// Stochastic gradient descent as torch.optim.SGD has it (fused kernel), with fastai's decoupled
// decay.
#include <ATen/ops/_fused_sgd.h>

#include "optim/optimizers/momentum_there.h"

namespace ddptrain {

class Sgd final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common;
    double momentum = 0;
    double dampening = 0;
    bool nesterov = false;
    bool maximize = false;
    bool decoupled_weight_decay = false;

    void fields(Fields& f) {
      common.fields(f);
      f("momentum", momentum,
        {.doc = "Momentum; 0 is plain descent.", .min = 0, .max = 1, .below_max = true});
      f("dampening", dampening,
        {.doc = "Share of a gradient that the momentum leaves out.", .min = 0, .max = 1});
      f("nesterov", nesterov, {.doc = "Look ahead along the momentum."});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
      f("decoupled_weight_decay", decoupled_weight_decay,
        {.doc = "Decay the weights (fastai) rather than add to the gradient (PyTorch)."});
    }
  };

  Sgd(const Options& options, std::vector<ParameterGroup> groups)
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
    if (options_.decoupled_weight_decay) decay_parameters(u);
    if (u.momentum_there.defined() && options_.momentum > 0)
      sgd_step(u, {options_.decoupled_weight_decay ? 0 : u.weight_decay, options_.dampening,
                   options_.nesterov, options_.maximize});
    else if (u.rate_there.defined())
      update(u, u.rate_there);
    else
      update(u, u.lr);
  }

  template <class Rate>
  void update(const Update& u, const Rate& rate) {
    const double decay = options_.decoupled_weight_decay ? 0 : u.weight_decay;
    const bool moving = options_.momentum > 0;
    at::_fused_sgd_(u.parameters, u.gradients, moving ? u.state[0] : std::vector<at::Tensor>{},
                    decay, moving ? u.momentum.value_or(options_.momentum) : 0, rate,
                    options_.dampening, options_.nesterov, options_.maximize, moving && u.step == 1,
                    /*grad_scale=*/{}, found_inf(u));
  }
  bool heeds_refusal() const override { return true; }
  bool reads_momentum_there() const override { return true; }

  Options options_;
};

Entry<Optimizer> sgd() {
  return entry_of<Optimizer, Sgd>(
      "sgd", "Stochastic gradient descent with momentum; defaults are PyTorch's.",
      {"momentum", "keeps_momentum_alone", "usual_lr 50"});
}

}  // namespace ddptrain
