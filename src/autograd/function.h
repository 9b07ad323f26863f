// Functions with a backward pass of their own, as torch.autograd.Function. One class of torch's
// templates serves all of them: each further one takes five seconds to compile.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <vector>

namespace torch::autograd {
struct AutogradContext;
}

namespace ddptrain {

/// What a call keeps from its forward for its backward pass.
class FunctionContext {
 public:
  FunctionContext(torch::autograd::AutogradContext& own, const std::vector<bool>& given)
      : own_(own), given_(given) {}

  /// In forward(), at most once: inputs, the output and other tensors, undefined ones too. What was
  /// overwritten between the passes is an error of torch.
  void save(const std::vector<at::Tensor>& tensors);
  /// In forward(): `input` is overwritten, and is the output.
  void overwrites(const at::Tensor& input);

  /// In backward(): what was saved.
  std::vector<at::Tensor> saved() const;
  /// In backward(): whether the gradient of an input is of use.
  bool wants_gradient(std::size_t input) const;

 private:
  torch::autograd::AutogradContext& own_;
  const std::vector<bool>& given_;  // of each input: whether it is defined
};

/// One call of a function with several outputs; what it keeps besides tensors is in its members.
/// Profiles have its backward pass under the name of its class.
class MultiOutputFunction : public c10::intrusive_ptr_target {
 public:
  /// Without a graph. The inputs are those of apply_multi_output(); an input may be an output.
  virtual std::vector<at::Tensor> outputs(FunctionContext& context,
                                          const std::vector<at::Tensor>& inputs) = 0;
  /// From the gradients of the outputs, undefined for one without, to one for each input;
  /// undefined: none.
  virtual std::vector<at::Tensor> gradients(const FunctionContext& context,
                                            const std::vector<at::Tensor>& of_outputs) = 0;
};

/// The same of one output.
class AutogradFunction : public MultiOutputFunction {
 public:
  virtual at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) = 0;
  virtual std::vector<at::Tensor> backward(const FunctionContext& context,
                                           const at::Tensor& gradient) = 0;

 private:
  std::vector<at::Tensor> outputs(FunctionContext& context,
                                  const std::vector<at::Tensor>& inputs) final {
    return {forward(context, inputs)};
  }
  std::vector<at::Tensor> gradients(const FunctionContext& context,
                                    const std::vector<at::Tensor>& of_outputs) final {
    return backward(context, of_outputs.front());
  }
};

/// The outputs of `function` for inputs, of which some may be undefined; autograd finds their
/// gradients by gradients().
std::vector<at::Tensor> apply_multi_output(c10::intrusive_ptr<MultiOutputFunction> function,
                                           const std::vector<at::Tensor>& inputs);

/// The output of a function with one.
at::Tensor apply_function(c10::intrusive_ptr<AutogradFunction> function,
                          const std::vector<at::Tensor>& inputs);

}  // namespace ddptrain
