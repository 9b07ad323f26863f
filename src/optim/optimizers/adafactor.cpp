// Adafactor (arXiv 1804.04235) as torch.optim.Adafactor has it: mean squares of matrices are kept
// as one factor per row and one per column.
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/optimizers/steps.h"

namespace ddptrain {

class Adafactor final : public Stateful {
 public:
  struct Options {
    OptimizerCommon common{.lr = 1e-2};
    double beta2_decay = -0.8;
    std::optional<double> eps1;
    double eps2 = 1e-3;
    double d = 1;
    bool maximize = false;

    void fields(Fields& f) {
      common.fields(f);
      f("beta2_decay", beta2_decay,
        {.doc = "The mean squares of step t take in t to this power of the new ones.", .max = 0});
      f("eps1", eps1,
        {.doc = "Smallest root mean square; null is the number type's precision.", .min = 0});
      f("eps2", eps2, {.doc = "Smallest size of a parameter that scales its step.", .min = 0});
      f("d", d, {.doc = "Root mean square above which an update is scaled down.", .min = 1});
      f("maximize", maximize, {.doc = "Climb instead of descend."});
    }
  };

  Adafactor(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"row_var", "col_var", "variance"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return std::nullopt; }

 private:
  enum Slot { row_var, col_var, variance };

  at::Tensor first_state(std::size_t slot, const at::Tensor& parameter) const override {
    if (parameter.dim() < 2)
      return slot == variance ? Stateful::first_state(slot, parameter) : at::Tensor();
    if (slot == variance) return {};
    auto sizes = parameter.sizes().vec();
    (slot == row_var ? sizes[sizes.size() - 1] : sizes[sizes.size() - 2]) = 1;
    return at::zeros(sizes, parameter.options());
  }

  void update(const Update& u) override {
    const auto gradients = descent(u, options_.maximize, 0);
    const auto step = static_cast<double>(u.step);
    const double fresh = std::pow(step, options_.beta2_decay);
    const double relative = std::min(u.lr, 1 / std::sqrt(step));
    for (std::size_t i = 0; i < u.parameters.size(); ++i) {
      const auto& parameter = u.parameters[i];
      const auto rate = root_mean_square(parameter).clamp_min_(options_.eps2).mul_(relative);
      if (u.weight_decay != 0) parameter.mul_(1 - u.lr * u.weight_decay);
      const double eps = options_.eps1.value_or(precision(parameter));
      auto change = mean_squares(u, i, gradients[i], fresh, eps).clamp_min_(eps * eps).rsqrt_();
      change.mul_(gradients[i]);
      const auto size = root_mean_square(change).div_(options_.d).clamp_min_(1);
      add_scaled(parameter, change, rate.div_(size).neg_());
    }
  }

  // On the CPU as torch.optim.Adafactor, which rounds once; elsewhere the host does not read the
  // factor, and the product is rounded, too.
  static void add_scaled(const at::Tensor& parameter, const at::Tensor& change,
                         const at::Tensor& factor) {
    if (factor.is_cpu())
      parameter.add_(change, factor.item<double>());
    else
      parameter.addcmul_(change, factor.to(parameter.scalar_type()));
  }

  static at::Tensor mean_squares(const Update& u, std::size_t i, const at::Tensor& gradient,
                                 double fresh, double eps) {
    if (gradient.dim() < 2) return u.state[variance][i].lerp_(gradient.square(), fresh).clone();
    const auto& rows = u.state[row_var][i];
    const auto& columns = u.state[col_var][i];
    rows.lerp_(gradient.square().mean(-1, true), fresh);
    columns.lerp_(gradient.square().mean(-2, true), fresh);
    return at::matmul(rows, columns).div_(rows.mean(-2, true).clamp_min_(eps));
  }

  // A number of the tensor's device, double.
  static at::Tensor root_mean_square(const at::Tensor& tensor) {
    return at::linalg_vector_norm(tensor)
        .to(at::kDouble)
        .div_(std::sqrt(static_cast<double>(tensor.numel())));
  }

  static double precision(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                               : std::numeric_limits<float>::epsilon();
  }

  Options options_;
};

Entry<Optimizer> adafactor() {
  return entry<Optimizer, Adafactor::Options>(
      "adafactor", "Adafactor: little memory for large matrices; defaults are PyTorch's.",
      [](const Adafactor::Options& options, std::vector<ParameterGroup> groups) {
        return std::make_unique<Adafactor>(options, std::move(groups));
      });
}

}  // namespace ddptrain
