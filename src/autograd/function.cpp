#include "autograd/function.h"

#include <ATen/record_function.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace ddptrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The call, and which of its inputs torch knows: an input of torch's functions is defined.
struct Call : torch::CustomClassHolder {
  c10::intrusive_ptr<MultiOutputFunction> function;
  std::vector<bool> given;
};

struct AnyFunction : torch::autograd::Function<AnyFunction> {
  static variable_list forward(AutogradContext* context, at::TensorList given,
                               const c10::intrusive_ptr<Call>& call) {
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    std::vector<at::Tensor> inputs(call->given.size());
    auto next = given.begin();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (call->given[i]) inputs[i] = *next++;
    FunctionContext own(*context, call->given);
    auto outputs = call->function->outputs(own, inputs);
    context->set_materialize_grads(outputs.size() == 1);  // zeros for an output without a gradient
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["call"].toCapsule();
    const auto& call = static_cast<const Call&>(*capsule);
    const auto& function = *call.function;
    RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::BACKWARD_FUNCTION,
                               c10::demangle(typeid(function).name()), {});
    auto made = call.function->gradients(FunctionContext(*context, call.given), gradients);
    variable_list result;
    for (std::size_t i = 0; i < call.given.size(); ++i)
      if (call.given[i]) result.push_back(std::move(made.at(i)));
    result.emplace_back();  // of the call itself
    return result;
  }
};

}  // namespace

void FunctionContext::save(const std::vector<at::Tensor>& tensors) {
  own_.save_for_backward(tensors);
}

void FunctionContext::overwrites(const at::Tensor& input) { own_.mark_dirty({input}); }

std::vector<at::Tensor> FunctionContext::saved() const { return own_.get_saved_variables(); }

bool FunctionContext::wants_gradient(std::size_t input) const {
  if (!given_.at(input)) return false;
  const auto before = given_.begin() + static_cast<std::ptrdiff_t>(input);
  return own_.needs_input_grad(static_cast<std::size_t>(std::count(given_.begin(), before, true)));
}

std::vector<at::Tensor> apply_multi_output(c10::intrusive_ptr<MultiOutputFunction> function,
                                           const std::vector<at::Tensor>& inputs) {
  const auto call = c10::make_intrusive<Call>();
  call->function = std::move(function);
  std::vector<at::Tensor> given;
  for (const auto& input : inputs) {
    call->given.push_back(input.defined());
    if (input.defined()) given.push_back(input);
  }
  return AnyFunction::apply(at::TensorList(given), call);
}

at::Tensor apply_function(c10::intrusive_ptr<AutogradFunction> function,
                          const std::vector<at::Tensor>& inputs) {
  return apply_multi_output(std::move(function), inputs).front();
}

}  // namespace ddptrain
