#include "optim/refusal.h"

#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>

#include <utility>

namespace ddptrain {

// torch's kernel of many tensors that heeds a flag of the device: in a first step the buffers of
// the momentum become the gradients, and at a rate of 0 the parameters, here `from` too, stay.
void copy_unless(const at::Tensor& flag, const std::vector<at::Tensor>& to,
                 const std::vector<at::Tensor>& from) {
  at::_fused_sgd_(from, from, to, /*weight_decay=*/0, /*momentum=*/1, /*lr=*/0, /*dampening=*/0,
                  /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/true,
                  /*grad_scale=*/{}, flag);
}

Snapshot::Snapshot(std::vector<at::Tensor> live) : live_(std::move(live)) {
  for (const auto& tensor : live_) kept_.push_back(at::empty_like(tensor));
  at::_foreach_copy_(kept_, live_);
}

}  // namespace ddptrain
