// Tensors that a forward pass needs and that are not trained: made once, and then kept on its
// device.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

namespace ddptrain {

/// Makes `kept` what `make` gives, on the device and in the type of `like`, where it is not yet.
template <class Make>
void keep_constant(at::Tensor& kept, const at::Tensor& like, const Make& make) {
  if (kept.defined() && kept.device() == like.device() && kept.scalar_type() == like.scalar_type())
    return;
  const at::NoGradGuard no_grad;
  kept = make().to(like.device(), like.scalar_type());
}

}  // namespace ddptrain
