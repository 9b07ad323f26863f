#include "models/operators/pointwise_convolution.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/convolution_backward.h>

#include <array>
#include <tuple>
#include <vector>

#include "autograd/function.h"

namespace ddptrain {
namespace {

/// [rows * height * width, channels]; a view where they are in NHWC.
at::Tensor all_pixels(const at::Tensor& maps) {
  return maps.permute({0, 2, 3, 1}).reshape({-1, maps.size(1)});
}

at::Tensor gradient_of_pixels(const at::Tensor& gradient, const at::Tensor& input,
                              const at::Tensor& weight) {
  const std::array<bool, 3> input_alone{true, false, false};
  return std::get<0>(at::convolution_backward(gradient, input, weight, at::OptionalIntArrayRef(),
                                              {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1,
                                              input_alone));
}

class PointwiseConvolutionFunction final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    context.save({inputs[0], inputs[1]});
    const at::AutoDispatchBelowAutograd below;
    return at::conv2d(inputs[0], inputs[1], inputs[2]);
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    const auto saved = context.saved();
    const auto &input = saved[0], &weight = saved[1];
    std::vector<at::Tensor> all(3);
    if (context.wants_gradient(0)) all[0] = gradient_of_pixels(gradient, input, weight);
    if (context.wants_gradient(1))
      all[1] = all_pixels(gradient).t().mm(all_pixels(input)).view(weight.sizes());
    if (context.wants_gradient(2)) all[2] = gradient.sum({0, 2, 3});
    return all;
  }
};

}  // namespace

at::Tensor pointwise_convolution(const at::Tensor& input, const at::Tensor& weight,
                                 const at::Tensor& bias) {
  return apply_function(c10::make_intrusive<PointwiseConvolutionFunction>(), {input, weight, bias});
}

}  // namespace ddptrain
