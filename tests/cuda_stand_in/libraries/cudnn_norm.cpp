// Batch norm of libcudnn's older API, which LibTorch calls.
#include "cuda_stand_in/libraries/cudnn_tensors.h"

namespace {

using ddptrain::stand_in::bytes_of;
using ddptrain::stand_in::cudnn_kernel;
using ddptrain::stand_in::reads;
using ddptrain::stand_in::writes;

constexpr std::size_t kNormWork = 1 << 12;

cudnnStatus_t give(std::size_t* to) {
  *to = kNormWork;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t, size_t* bytes) {
  return give(bytes);
}
cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t,
    size_t* bytes) {
  return give(bytes);
}
cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnActivationDescriptor_t,
    const cudnnTensorDescriptor_t, size_t* bytes) {
  return give(bytes);
}
cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t, const void*, const void*,
    const cudnnTensorDescriptor_t x_data, const void* x, const cudnnTensorDescriptor_t y_data,
    void* y, const cudnnTensorDescriptor_t plane, const void* scale, const void* bias,
    const void* mean, const void* variance, double) {
  const auto bytes = bytes_of(plane);
  return cudnn_kernel("cudnn batch norm inference", handle,
                      {reads(x, bytes_of(x_data)), writes(y, bytes_of(y_data)), reads(scale, bytes),
                       reads(bias, bytes), reads(mean, bytes), reads(variance, bytes)});
}
cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*,
    const cudnnTensorDescriptor_t x_data, const void* x, const cudnnTensorDescriptor_t, const void*,
    const cudnnTensorDescriptor_t y_data, void* y, const cudnnTensorDescriptor_t plane,
    const void* scale, const void* bias, double, void* running_mean, void* running_variance, double,
    void* mean, void* inverse, cudnnActivationDescriptor_t, void* work, size_t work_bytes,
    void* reserve, size_t reserve_bytes) {
  const auto bytes = bytes_of(plane);
  return cudnn_kernel("cudnn batch norm forward", handle,
                      {reads(x, bytes_of(x_data)), writes(y, bytes_of(y_data)), reads(scale, bytes),
                       reads(bias, bytes), writes(running_mean, bytes),
                       writes(running_variance, bytes), writes(mean, bytes), writes(inverse, bytes),
                       writes(work, work_bytes), writes(reserve, reserve_bytes)});
}
cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*,
    const void*, const void*, const cudnnTensorDescriptor_t x_data, const void* x,
    const cudnnTensorDescriptor_t, const void*, const cudnnTensorDescriptor_t dy_data,
    const void* dy, const cudnnTensorDescriptor_t, void*, const cudnnTensorDescriptor_t dx_data,
    void* dx, const cudnnTensorDescriptor_t plane, const void* scale, const void*, void* dscale,
    void* dbias, double, const void* mean, const void* inverse, cudnnActivationDescriptor_t,
    void* work, size_t work_bytes, void* reserve, size_t reserve_bytes) {
  const auto bytes = bytes_of(plane);
  return cudnn_kernel(
      "cudnn batch norm backward", handle,
      {reads(x, bytes_of(x_data)), reads(dy, bytes_of(dy_data)), writes(dx, bytes_of(dx_data)),
       reads(scale, bytes), reads(mean, bytes), reads(inverse, bytes), writes(dscale, bytes),
       writes(dbias, bytes), writes(work, work_bytes), reads(reserve, reserve_bytes)});
}
}
