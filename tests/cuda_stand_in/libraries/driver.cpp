// libcuda: what LibTorch and this program ask of the driver by name.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "cuda_stand_in/core/gpus.h"

namespace {

using ddptrain::stand_in::Gpus;
using ddptrain::stand_in::LockedGpus;

bool is_started = false;

// One context a device, which is its number + 1.
CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device + 1));
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  is_started = true;
  return Gpus::get().count() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuDeviceGetCount(int* count) {
  if (!is_started) return CUDA_ERROR_NOT_INITIALIZED;
  *count = Gpus::get().count();
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const LockedGpus gpus;
  *flags = 0;
  *active = gpus->is_used(device) ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const LockedGpus gpus;
  gpus->use(device);
  *context = context_of(device);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  const LockedGpus gpus;
  const int device = Gpus::current();
  *context = gpus->is_used(device) ? context_of(device) : nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  const auto number = reinterpret_cast<std::uintptr_t>(context);
  if (number > 0) Gpus::select(static_cast<int>(number) - 1);
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute what, CUdeviceptr address) {
  const LockedGpus gpus;
  const auto* found = gpus->allocations().find(address);
  if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (what == CU_POINTER_ATTRIBUTE_CONTEXT) {
    *static_cast<CUcontext*>(data) = context_of(std::max(found->device, 0));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}
// NVRTC asks for one, and compiles without it.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the stand-in for CUDA's driver";
  return CUDA_SUCCESS;
}
}
