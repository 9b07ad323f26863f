#include "models/layers/chain.h"

#include "models/layers/activation.h"
#include "models/layers/dense_chain.h"
#include "models/layers/norm.h"
#include "models/operators/add_relu.h"

namespace ddptrain {
namespace {

bool is_relu(Module* step) {
  const auto* activation = dynamic_cast<Activate*>(step);
  return activation != nullptr && activation->activation() == Activation::relu;
}

/// The batch norm that ends a module; null: none.
BatchNorm* last_norm(Module* module) {
  if (auto* norm = dynamic_cast<BatchNorm*>(module)) return norm;
  const auto* chain = dynamic_cast<Sequence*>(module);
  return chain == nullptr || chain->steps().empty() ? nullptr : last_norm(chain->steps().back());
}

at::Tensor before_last_norm(Module& path, const at::Tensor& input, const Pass& pass) {
  const auto* chain = dynamic_cast<Sequence*>(&path);
  if (chain == nullptr) return input;
  const auto steps = chain->steps();
  return before_last_norm(*steps.back(), run_steps(steps.first(steps.size() - 1), input, pass),
                          pass);
}

}  // namespace

at::Tensor run_steps(std::span<Module* const> steps, const at::Tensor& input, const Pass& pass) {
  auto value = input;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto dense = dense_chain(steps.subspan(i), value, pass); dense.modules > 0) {
      value = run_dense(dense, value, pass);
      i += dense.modules - 1;
      continue;
    }
    auto* norm = value.is_cpu() ? nullptr : dynamic_cast<BatchNorm*>(steps[i]);
    if (norm != nullptr && i + 1 < steps.size() && is_relu(steps[i + 1])) {
      value = norm->forward_relu(value, {}, pass);
      ++i;
    } else {
      value = steps[i]->forward(value, pass);
    }
  }
  return value;
}

at::Tensor add_relu_after(Module& path, const at::Tensor& input,
                          const std::function<at::Tensor()>& shortcut, const Pass& pass) {
  auto* norm = input.is_cpu() ? nullptr : last_norm(&path);
  if (norm == nullptr) {
    auto sum = path.forward(input, pass);
    return add_relu(std::move(sum), shortcut());
  }
  const auto value = before_last_norm(path, input, pass);
  return norm->forward_relu(value, shortcut(), pass);
}

}  // namespace ddptrain
