// The end of a residual block.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// relu(residual + input), of one shape; may overwrite the residual, as activate_over. One operator
/// on every device (ddptrain::add_relu_), whose backward pass is that of relu alone; NaN stays NaN.
at::Tensor add_relu(at::Tensor residual, const at::Tensor& input);

}  // namespace ddptrain
