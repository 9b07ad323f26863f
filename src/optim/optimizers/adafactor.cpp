// Adafactor (arXiv 1804.04235) as torch.optim.Adafactor or transformers.optimization.Adafactor has
// it: mean squares of matrices are kept as one factor per row and one per column.
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/names.h"
#include "optim/optimizers/steps.h"

namespace ddptrain {

class Adafactor final : public Stateful {
 public:
  enum class Like { torch, transformers };
  friend std::span<const std::string_view> names(Like) {
    return kNameList<"torch", "transformers">;
  }

  struct Options {
    OptimizerCommon common{.lr = 1e-2};
    Like like = Like::torch;
    double beta2_decay = -0.8;
    std::optional<double> eps1;
    double eps2 = 1e-3;
    double d = 1;
    std::optional<double> beta1;
    bool scale_parameter = true;
    bool relative_step = false;
    bool warmup_init = false;
    bool maximize = false;
    void fields(Fields& f);
  };

  Adafactor(const Options& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups),
                 {.step = true, .slots = {"row_var", "col_var", "variance", "exp_avg"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return std::nullopt; }

 private:
  enum Slot { row_var, col_var, variance, exp_avg };

  at::Tensor first_state(std::size_t slot, const at::Tensor& parameter) const override {
    if (slot == exp_avg && !options_.beta1) return {};
    const bool factored = parameter.dim() >= 2;
    if (slot == exp_avg || (slot == variance && !factored))
      return Stateful::first_state(slot, parameter);
    if (slot == variance || !factored) return {};
    auto sizes = parameter.sizes().vec();
    (slot == row_var ? sizes[sizes.size() - 1] : sizes[sizes.size() - 2]) = 1;
    return at::zeros(sizes, parameter.options());
  }

  void update(const Update& u) override {
    const auto gradients = descent(u, options_.maximize, 0);
    const double rate = rate_of(u);
    for (std::size_t i = 0; i < u.parameters.size(); ++i) {
      const auto& parameter = u.parameters[i];
      const auto scaled = size_of(parameter).mul_(rate);
      decay(u, parameter, scaled);
      const auto change =
          is_torch() ? torch_change(u, i, gradients[i]) : transformers_change(u, i, gradients[i]);
      const auto size = root_mean_square(change).div_(options_.d).clamp_min_(1);
      move(u, i, change, scaled.div(size));
    }
  }

  bool is_torch() const { return options_.like == Like::torch; }

  /// Before the parameter's size scales it.
  double rate_of(const Update& u) const {
    const auto step = static_cast<double>(u.step);
    if (is_torch()) return std::min(u.lr, 1 / std::sqrt(step));
    if (!options_.relative_step) return u.lr;
    return u.lr * std::min(options_.warmup_init ? 1e-6 * step : 1e-2, 1 / std::sqrt(step));
  }

  /// What scales the rate, a number of the parameter's device.
  at::Tensor size_of(const at::Tensor& parameter) const {
    if (options_.scale_parameter) return root_mean_square(parameter).clamp_min_(options_.eps2);
    return at::ones({}, parameter.options().dtype(at::kDouble));
  }

  /// In torch by the rate itself, in transformers by the scaled one.
  void decay(const Update& u, const at::Tensor& parameter, const at::Tensor& scaled) const {
    if (u.weight_decay == 0) return;
    if (is_torch())
      parameter.mul_(1 - u.lr * u.weight_decay);
    else
      add_scaled(parameter, parameter, scaled.mul(-u.weight_decay));
  }

  void move(const Update& u, std::size_t i, const at::Tensor& change,
            const at::Tensor& factor) const {
    if (!options_.beta1) return add_scaled(u.parameters[i], change, factor.neg());
    const auto& mean = u.state[exp_avg][i].mul_(*options_.beta1);
    add_scaled(mean, change, factor.mul(1 - *options_.beta1));
    u.parameters[i].sub_(mean);
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

  double fresh(const Update& u) const {
    return std::pow(static_cast<double>(u.step), options_.beta2_decay);
  }

  at::Tensor torch_change(const Update& u, std::size_t i, const at::Tensor& gradient) const {
    const double eps = options_.eps1.value_or(precision(gradient));
    keep_mean_squares(u, i, gradient.square());
    const auto mean = gradient.dim() < 2 ? u.state[variance][i]
                                         : at::matmul(u.state[row_var][i], u.state[col_var][i])
                                               .div_(row_mean(u, i).clamp_min_(eps));
    return mean.clamp_min(eps * eps).rsqrt_().mul_(gradient);
  }

  /// The product of two roots: that of the squares is too small a number for float32.
  at::Tensor transformers_change(const Update& u, std::size_t i, const at::Tensor& gradient) const {
    keep_mean_squares(u, i, gradient.square().add_(options_.eps1.value_or(1e-30)));
    if (gradient.dim() < 2) return u.state[variance][i].rsqrt().mul_(gradient);
    const auto rows = u.state[row_var][i].div(row_mean(u, i)).rsqrt_();
    return at::mul(rows, u.state[col_var][i].rsqrt()).mul_(gradient);
  }

  void keep_mean_squares(const Update& u, std::size_t i, const at::Tensor& squares) const {
    if (squares.dim() < 2) {
      u.state[variance][i].lerp_(squares, fresh(u));
      return;
    }
    u.state[row_var][i].lerp_(squares.mean(-1, true), fresh(u));
    u.state[col_var][i].lerp_(squares.mean(-2, true), fresh(u));
  }

  static at::Tensor row_mean(const Update& u, std::size_t i) {
    return u.state[row_var][i].mean(-2, true);
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

void Adafactor::Options::fields(Fields& f) {
  common.fields(f);
  f("like", like,
    {.doc = "Whose algorithm. torch's rate is at most 1 / sqrt(step); transformers' is lr in all "
            "steps, weight decay follows the rate as it is scaled, and eps1 is added to squares."});
  f("beta2_decay", beta2_decay,
    {.doc = "The mean squares of step t take in t to this power of the new ones (transformers: "
            "decay_rate).",
     .max = 0});
  f("eps1", eps1,
    {.doc = "Smallest root mean square; null is the number type's precision, or 1e-30 for "
            "transformers.",
     .min = 0});
  f("eps2", eps2, {.doc = "Smallest size of a parameter that scales its step.", .min = 0});
  f("d", d,
    {.doc = "Root mean square above which an update is scaled down (transformers: clip_threshold).",
     .min = 0,
     .above_min = true});
  f("beta1", beta1,
    {.doc = "Decay rate of a running mean of the updates; null: none.",
     .min = 0,
     .max = 1,
     .below_max = true});
  f("scale_parameter", scale_parameter,
    {.doc = "Multiply the rate by the root mean square of the parameter."});
  f("relative_step", relative_step,
    {.doc = "The rate of step t is min(0.01, 1 / sqrt(t)) times lr, which is to be 1."});
  f("warmup_init", warmup_init, {.doc = "With relative_step, 1e-6 t takes the place of 0.01."});
  f("maximize", maximize, {.doc = "Climb instead of descend."});
  f.require(needs("relative_step", is("like", "transformers")));
  f.require(needs("relative_step", is("lr.to", "1")));
  f.require(needs("warmup_init", "relative_step"));
}

Entry<Optimizer> adafactor() {
  return entry_of<Optimizer, Adafactor>(
      "adafactor",
      "Adafactor: little memory for large matrices; as PyTorch or transformers has it.",
      {"whole_parameters"});
}

}  // namespace ddptrain
