// Adagrad as torch.optim.Adagrad has it.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/full_like.h>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Adagrad final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 1e-2};
    double lr_decay = 0;
    double initial_accumulator_value = 0;
    double eps = 1e-10;
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      f("lr_decay", lr_decay,
        {.doc = "The rate of step t is divided by 1 + (t - 1) x this.", .min = 0});
      f("initial_accumulator_value", initial_accumulator_value,
        {.doc = "What the sum of squares begins with.", .min = 0});
      f("eps", eps, {.doc = "Added to the root of the sum of squares.", .min = 0});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Adagrad(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), {.step = true, .slots = {"sum"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return std::nullopt; }

 private:
  at::Tensor first_state(std::size_t, const at::Tensor& parameter) const override {
    return at::full_like(parameter, options_.initial_accumulator_value);
  }

  void update(const Update& u) override {
    const auto gradients = descent(u, options_.maximize, u.weight_decay);
    at::_foreach_addcmul_(u.state[0], gradients, gradients);
    auto roots = at::_foreach_sqrt(u.state[0]);
    at::_foreach_add_(roots, options_.eps);
    const double lr = u.lr / (1 + static_cast<double>(u.step - 1) * options_.lr_decay);
    at::_foreach_addcdiv_(u.parameters, gradients, roots, -lr);
  }

  Options options_;
};

Entry<Optimizer> adagrad() {
  return entry_of<Optimizer, Adagrad>("adagrad", "Adagrad; defaults are PyTorch's.",
                                      {"usual_lr 10"});
}

}  // namespace ddptrain
