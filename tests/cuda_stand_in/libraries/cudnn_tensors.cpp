#include "cuda_stand_in/libraries/cudnn_tensors.h"

#include <algorithm>

#include "cuda_stand_in/runtime/launches.h"

namespace ddptrain::stand_in {

std::size_t bytes_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
      return 8;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
      return 1;
    default:
      return 4;
  }
}

std::size_t bytes_of(cudnnTensorDescriptor_t handle) {
  const auto& tensor = tensor_of(handle);
  std::size_t last = 0;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    last +=
        static_cast<std::size_t>(tensor.sizes[i] - 1) * static_cast<std::size_t>(tensor.strides[i]);
  return (last + 1) * bytes_of(tensor.type);
}

cudnnStatus_t cudnn_kernel(const char* name, cudnnHandle_t handle,
                           std::vector<MemoryAccess> accesses) {
  cudaStream_t stream = nullptr;
  cudnnGetStream(handle, &stream);
  std::erase_if(accesses, [](const auto& access) { return access.address == 0; });
  library_kernel(name, stream, std::move(accesses));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ddptrain::stand_in

using ddptrain::stand_in::CudnnTensor;
using ddptrain::stand_in::tensor_of;

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* to) {
  *to = reinterpret_cast<cudnnTensorDescriptor_t>(new CudnnTensor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete &tensor_of(tensor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int dimensions, const int sizes[], const int strides[]) {
  tensor_of(tensor) = {type, {sizes, sizes + dimensions}, {strides, strides + dimensions}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensor, int wanted,
                                         cudnnDataType_t* type, int* dimensions, int sizes[],
                                         int strides[]) {
  const auto& from = tensor_of(tensor);
  *type = from.type;
  *dimensions = static_cast<int>(from.sizes.size());
  const auto count = std::min(static_cast<std::size_t>(wanted), from.sizes.size());
  std::copy_n(from.sizes.begin(), count, sizes);
  std::copy_n(from.strides.begin(), count, strides);
  return CUDNN_STATUS_SUCCESS;
}
}
