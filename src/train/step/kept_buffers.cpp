#include "train/step/kept_buffers.h"

#include <ATen/ops/cat.h>

namespace ddptrain {

KeptBuffers::KeptBuffers(const Model& model) {
  std::map<at::ScalarType, std::vector<at::Tensor>> flat;
  for (const auto& [name, tensor] : model.named_buffers()) {
    live_[tensor.scalar_type()].push_back(tensor.detach());
    flat[tensor.scalar_type()].push_back(tensor.detach().reshape({-1}));
  }
  for (const auto& [type, tensors] : flat) kept_[type] = at::cat(tensors);
}

void KeptBuffers::put_back() {
  for (auto& [type, tensors] : live_) {
    std::int64_t at = 0;
    for (auto& tensor : tensors) {
      tensor.copy_(kept_.at(type).narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
  }
}

}  // namespace ddptrain
