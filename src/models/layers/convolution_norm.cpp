#include "models/layers/convolution_norm.h"

#include "models/layers/initialize.h"

namespace ddptrain {

ConvolutionNorm::ConvolutionNorm(const ConvolutionNormShape& shape,
                                 const at::Generator& generator) {
  add<Convolution>(ConvolutionShape{.in = shape.in,
                                    .out = shape.out,
                                    .kernel = shape.kernel,
                                    .stride = shape.stride,
                                    .padding = (shape.kernel - 1) / 2 * shape.dilation,
                                    .groups = shape.groups,
                                    .dilation = shape.dilation},
                   generator);
  add<BatchNorm>(shape.out, shape.norm);
  if (shape.activation != Activation::none)
    add<Activate>(shape.activation, Activate::Input::overwrite);
}

void initialize_mobile(Module& root, const at::Generator& generator,
                       const std::function<void(const at::Tensor& weight)>& draw_weight) {
  for (const auto& [path, module] : root.modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module)) {
      initialize::kaiming_normal(convolution->weight(), initialize::Fan::out, generator);
      if (convolution->bias().defined()) initialize::constant(convolution->bias(), 0);
    }
  for (const auto& [path, module] : root.modules())
    if (const auto* linear = dynamic_cast<Linear*>(module)) {
      draw_weight(linear->weight());
      initialize::constant(linear->bias(), 0);
    }
}

}  // namespace ddptrain
