#include "models/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <utility>

namespace ddptrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Forward = std::function<at::Tensor(const at::Tensor&, const Pass&)>;

/// What the backward pass needs to run a block again.
class BlockAgain : public torch::CustomClassHolder {
 public:
  BlockAgain(Forward forward, const Pass& pass)
      : forward_(std::move(forward)),
        positions_(pass.positions.begin(), pass.positions.end()),
        pass_(pass) {
    pass_.positions = positions_;  // a Pass only refers to them
    pass_.recompute = false;
    pass_.penalty = nullptr;
    pass_.auxiliary = nullptr;
    pass_.carried = nullptr;
    pass_.blocks = nullptr;
  }

  at::Tensor run(const at::Tensor& input) { return forward_(input, pass_); }
  at::Tensor run_again(const at::Tensor& input) {
    const auto numerics = pass_.numerics ? pass_.numerics() : nullptr;
    pass_.repeated = true;
    return run(input);
  }

 private:
  Forward forward_;
  std::vector<std::int64_t> positions_;
  Pass pass_;
};

/// The parameters are inputs, so that autograd sees what the output depends on.
struct RecomputedBlock : public torch::autograd::Function<RecomputedBlock> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            at::TensorList parameters,
                            const c10::intrusive_ptr<BlockAgain>& block) {
    auto output = block->run(input);
    variable_list saved{input};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(saved);
    context->saved_data["block"] = c10::IValue::make_capsule(block);
    context->saved_data["input_learns"] = input.requires_grad();
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["block"].toCapsule();
    auto& block = static_cast<BlockAgain&>(*capsule);
    auto leaves = context->get_saved_variables();
    const bool input_learns = context->saved_data["input_learns"].toBool();
    leaves[0] = leaves[0].detach().requires_grad_(input_learns);
    at::Tensor output;
    {
      const at::AutoGradMode with_graph(true);
      output = block.run_again(leaves[0]);
    }
    const variable_list wanted(leaves.begin() + (input_learns ? 0 : 1), leaves.end());
    auto found = torch::autograd::grad({output}, wanted, gradients, /*retain_graph=*/std::nullopt,
                                       /*create_graph=*/false, /*allow_unused=*/true);
    if (!input_learns) found.insert(found.begin(), at::Tensor());
    found.emplace_back();  // of the block itself
    return found;
  }
};

at::Tensor run_recomputed(const Module& block, const at::Tensor& input, const Pass& pass,
                          const Forward& forward) {
  variable_list parameters;
  if (pass.recompute && at::GradMode::is_enabled())
    for (const auto& named : block.named_parameters())
      if (named.tensor.requires_grad()) parameters.push_back(named.tensor);
  const bool learns = input.requires_grad() || !parameters.empty();
  if (!pass.recompute || !at::GradMode::is_enabled() || !learns) return forward(input, pass);
  return RecomputedBlock::apply(input, at::TensorList(parameters),
                                c10::make_intrusive<BlockAgain>(forward, pass));
}

}  // namespace

at::Tensor run_block(const Module& block, const at::Tensor& input, const Pass& pass,
                     const Forward& forward) {
  return observed_block(block, input, pass, [&](const at::Tensor& given, const Pass& now) {
    return run_recomputed(block, given, now, forward);
  });
}

at::Tensor run_block(Module& block, const at::Tensor& input, const Pass& pass) {
  return run_block(block, input, pass, [&block](const at::Tensor& given, const Pass& again) {
    return block.forward(given, again);
  });
}

}  // namespace ddptrain
