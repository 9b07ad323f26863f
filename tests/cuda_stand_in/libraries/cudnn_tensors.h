// Tensors and kernels of cuDNN's older API.
#pragma once

#pragma GCC visibility push(default)
#include <cudnn.h>
#pragma GCC visibility pop

#include <cstddef>
#include <vector>

#include "cuda_stand_in/core/memory.h"

namespace ddptrain::stand_in {

struct CudnnTensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int> sizes, strides;
};
inline CudnnTensor& tensor_of(cudnnTensorDescriptor_t handle) {
  return *reinterpret_cast<CudnnTensor*>(handle);
}

std::size_t bytes_of(cudnnDataType_t type);
/// As far as its strides reach.
std::size_t bytes_of(cudnnTensorDescriptor_t tensor);

/// On the handle's stream. Accesses without an address are none.
cudnnStatus_t cudnn_kernel(const char* name, cudnnHandle_t handle,
                           std::vector<MemoryAccess> accesses);

}  // namespace ddptrain::stand_in
