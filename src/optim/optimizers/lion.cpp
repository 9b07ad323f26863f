// Lion (arXiv 2302.06675) as timm has it: the sign of a momentum that looks ahead.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sign.h>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Lion final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 1e-4};
    std::vector<double> betas{0.9, 0.99};
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      betas_field(f, betas);
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Lion(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), {.slots = {"exp_avg"}}), options_(options) {}

  std::optional<double> momentum() const override { return options_.betas[0]; }

 private:
  void update(const Update& u) override {
    decay_parameters(u);
    const auto gradients = descent(u, options_.maximize, 0);
    const double beta1 = u.momentum.value_or(options_.betas[0]);
    auto directions = at::_foreach_lerp(u.state[0], gradients, 1 - beta1);
    at::_foreach_sign_(directions);
    at::_foreach_add_(u.parameters, directions, -u.lr);
    running_mean(u.state[0], gradients, options_.betas[1]);
  }

  Options options_;
};

Entry<Optimizer> lion() {
  return entry_of<Optimizer, Lion>(
      "lion", "Steps of one size along the sign of the momentum; defaults are timm's.",
      {"momentum", "usual_weight_decay 10"});
}

}  // namespace ddptrain
