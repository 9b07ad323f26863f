#include "models/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <utility>

#include "autograd/function.h"

namespace ddptrain {
namespace {

using Forward = std::function<at::Tensor(const at::Tensor&, const Pass&)>;

/// What the backward pass needs to run a block again.
class BlockAgain {
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

/// Of the block's input and its parameters, so that autograd sees what the output depends on.
class RecomputedBlock final : public AutogradFunction {
 public:
  RecomputedBlock(Forward forward, const Pass& pass) : block_(std::move(forward), pass) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    auto output = block_.run(inputs[0]);
    context.save(inputs);
    input_learns_ = inputs[0].requires_grad();
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    auto leaves = context.saved();
    leaves[0] = leaves[0].detach().requires_grad_(input_learns_);
    at::Tensor output;
    {
      const at::AutoGradMode with_graph(true);
      output = block_.run_again(leaves[0]);
    }
    const std::vector<at::Tensor> wanted(leaves.begin() + (input_learns_ ? 0 : 1), leaves.end());
    auto found = torch::autograd::grad({output}, wanted, {gradient}, /*retain_graph=*/std::nullopt,
                                       /*create_graph=*/false, /*allow_unused=*/true);
    if (!input_learns_) found.insert(found.begin(), at::Tensor());
    return found;
  }

 private:
  BlockAgain block_;
  bool input_learns_ = false;
};

at::Tensor run_recomputed(const Module& block, const at::Tensor& input, const Pass& pass,
                          const Forward& forward) {
  std::vector<at::Tensor> inputs{input};
  if (pass.recompute && at::GradMode::is_enabled())
    for (const auto& named : block.named_parameters())
      if (named.tensor.requires_grad()) inputs.push_back(named.tensor);
  const bool learns = input.requires_grad() || inputs.size() > 1;
  if (!pass.recompute || !at::GradMode::is_enabled() || !learns) return forward(input, pass);
  return apply_function(c10::make_intrusive<RecomputedBlock>(forward, pass), inputs);
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
