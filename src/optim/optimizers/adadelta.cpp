// Adadelta as torch.optim.Adadelta has it.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Adadelta final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 1};
    double rho = 0.9;
    double eps = 1e-6;
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      f("rho", rho, {.doc = "Decay rate of the mean squares.", .min = 0, .max = 1});
      f("eps", eps, {.doc = "Added to the mean squares before their roots.", .min = 0});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Adadelta(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"square_avg", "acc_delta"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return std::nullopt; }

 private:
  void update(const Update& u) override {
    const auto gradients = descent(u, options_.maximize, u.weight_decay);
    running_mean_of_squares(u.state[0], gradients, options_.rho);
    auto deltas = roots_of(u.state[1]);
    at::_foreach_div_(deltas, roots_of(u.state[0]));
    at::_foreach_mul_(deltas, gradients);
    running_mean_of_squares(u.state[1], deltas, options_.rho);
    at::_foreach_add_(u.parameters, deltas, -u.lr);
  }

  std::vector<at::Tensor> roots_of(const std::vector<at::Tensor>& squares) const {
    auto roots = at::_foreach_add(squares, options_.eps);
    at::_foreach_sqrt_(roots);
    return roots;
  }

  Options options_;
};

Entry<Optimizer> adadelta() {
  return entry_of<Optimizer, Adadelta>("adadelta", "Adadelta; defaults are PyTorch's.",
                                       {"usual_lr 10"});
}

}  // namespace ddptrain
