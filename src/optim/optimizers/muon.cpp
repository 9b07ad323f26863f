// Muon (Jordan et al. 2024) as torch.optim.Muon has it on matrices, and another optimizer on all
// other parameters, which torch leaves to the user.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "optim/optimizers/steps.h"

namespace ddptrain {
namespace {

enum class AdjustLr { original, match_rms_adamw };
std::span<const std::string_view> names(AdjustLr) {
  return kNameList<"original", "match_rms_adamw">;
}

struct MuonOptions {
  OptimizerCommon common{.lr = 1e-3, .weight_decay = 0.1};
  double momentum = 0.95;
  bool nesterov = true;
  std::vector<double> ns_coefficients{3.4445, -4.775, 2.0315};
  double eps = 1e-7;
  std::int64_t ns_steps = 5;
  AdjustLr adjust_lr_fn = AdjustLr::original;
  Choice<Optimizer> others{"adamw"};

  void fields(Fields& f) {
    common.fields(f);
    f("momentum", momentum,
      {.doc = "Decay rate of the running mean of the gradient.",
       .min = 0,
       .max = 1,
       .below_max = true});
    f("nesterov", nesterov, {.doc = "Look ahead along the momentum."});
    f("ns_coefficients", ns_coefficients,
      {.doc = "Of the Newton-Schulz iteration.", .min_items = 3, .max_items = 3});
    f("eps", eps, {.doc = "Smallest norm that a momentum is divided by.", .min = 0});
    f("ns_steps", ns_steps, {.doc = "Newton-Schulz iterations.", .min = 1, .max = 99});
    f("adjust_lr_fn", adjust_lr_fn,
      {.doc = "How the rate follows a matrix's shape: as the authors', or so that rates of adamw "
              "fit."});
    f("others", others,
      {.doc = "The optimizer of parameters that are not matrices; its rate follows the same "
              "schedule."});
  }
};

class MatrixSteps final : public Stateful {
 public:
  MatrixSteps(const MuonOptions& options, std::vector<ParameterGroup> groups)
      : Stateful(options.common, std::move(groups), {.slots = {"momentum_buffer"}}),
        options_(options) {}

  std::optional<double> momentum() const override { return options_.momentum; }

 private:
  void update(const Update& u) override {
    const double momentum = u.momentum.value_or(options_.momentum);
    running_mean(u.state[0], u.gradients, momentum);
    const auto directions =
        options_.nesterov ? at::_foreach_lerp(u.gradients, u.state[0], momentum) : u.state[0];
    decay_parameters(u);
    for (std::size_t i = 0; i < u.parameters.size(); ++i) {
      const auto& parameter = u.parameters[i];
      const auto step = orthogonal(directions[i]).to(parameter.scalar_type());
      parameter.add_(step, -u.lr * shape_factor(parameter));
    }
  }

  /// The nearest matrix with orthogonal rows or columns, roughly: in bfloat16, as there.
  at::Tensor orthogonal(const at::Tensor& direction) const {
    const bool tall = direction.size(0) > direction.size(1);
    auto x = direction.to(at::kBFloat16);
    if (tall) x = x.t();
    x = x.div(at::linalg_vector_norm(x).clamp_min(options_.eps));
    const auto& c = options_.ns_coefficients;
    for (std::int64_t i = 0; i < options_.ns_steps; ++i) {
      const auto gram = at::mm(x, x.t());
      x = at::addmm(x, at::addmm(gram, gram, gram, c[1], c[2]), x, c[0]);
    }
    return tall ? x.t() : x;
  }

  double shape_factor(const at::Tensor& parameter) const {
    const auto rows = static_cast<double>(parameter.size(0));
    const auto columns = static_cast<double>(parameter.size(1));
    if (options_.adjust_lr_fn == AdjustLr::original)
      return std::sqrt(std::max(1.0, rows / columns));
    return 0.2 * std::sqrt(std::max(rows, columns));
  }

  MuonOptions options_;
};

/// The groups without the parameters that are matrices, or with those alone.
std::vector<ParameterGroup> part(const std::vector<ParameterGroup>& groups, bool matrices) {
  std::vector<ParameterGroup> parts;
  for (auto group : groups) {
    std::erase_if(group.parameters, [matrices](const NamedTensor& parameter) {
      return (parameter.tensor.dim() == 2) != matrices;
    });
    if (!group.parameters.empty()) parts.push_back(std::move(group));
  }
  return parts;
}

class Muon final : public Optimizer {
 public:
  Muon(const MuonOptions& options, std::vector<ParameterGroup> groups)
      : groups_(std::move(groups)), matrices_(options, part(groups_, true)) {
    for (const auto& group : matrices_.groups())
      for (const auto& parameter : group.parameters)
        buffers_.insert(parameter.name + ".momentum_buffer");
    if (buffers_.empty())
      throw Error(Exit::recipe, Option{"optimizer"},
                  "muon: the model has no matrix; another one is needed");
    auto rest = part(groups_, false);
    if (!rest.empty()) others_ = catalog<Optimizer>().build(options.others, std::move(rest));
  }

  double lr() const override { return matrices_.lr(); }
  std::optional<double> momentum() const override { return matrices_.momentum(); }
  const std::vector<ParameterGroup>& groups() const override { return groups_; }
  void share(const SharedGradients& shared) override {
    if (others_) others_->share(shared);
  }

  bool offload(StateStream& stream) override {
    return matrices_.offload(stream) && (!others_ || others_->offload(stream));
  }

  void step(const Rates& rates) override {
    matrices_.step(rates);
    if (!others_) return;
    const double share = matrices_.lr() > 0 ? rates.lr / matrices_.lr() : 1;
    auto others = rates;
    others.lr = others_->lr() * share;
    others.momentum.reset();
    others_->step(others);
  }
  void was_refused() override {
    matrices_.was_refused();
    if (others_) others_->was_refused();
  }

  std::vector<NamedTensor> state() const override {
    auto all = matrices_.state();
    if (!others_) return all;
    for (const auto& entry : others_->state()) all.push_back(entry);
    return all;
  }

  std::int64_t state_bytes() const override {
    return matrices_.state_bytes() + (others_ ? others_->state_bytes() : 0);
  }

  void load(const std::vector<NamedTensor>& state) override {
    std::vector<NamedTensor> of_matrices, of_others;
    for (const auto& entry : state)
      (buffers_.contains(entry.name) || !others_ ? of_matrices : of_others).push_back(entry);
    matrices_.load(of_matrices);
    if (others_) others_->load(of_others);
  }

 private:
  std::vector<ParameterGroup> groups_;
  MatrixSteps matrices_;
  std::unique_ptr<Optimizer> others_;
  std::set<std::string> buffers_;
};

}  // namespace

Entry<Optimizer> muon() {
  return entry_of<Optimizer, Muon, MuonOptions>(
      "muon", "Orthogonal steps for matrices, another optimizer for the rest; as PyTorch has it.",
      {"momentum", "whole_parameters"});
}

}  // namespace ddptrain
