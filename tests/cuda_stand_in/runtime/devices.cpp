// Devices: their number, properties, and the last error of a thread.
#include <cstdio>
#include <cstring>
#include <utility>

#include "cuda_stand_in/runtime/runtime.h"

namespace stand_in = ddptrain::stand_in;

namespace {
thread_local cudaError_t last_error = cudaSuccess;

bool exists(int device) { return device >= 0 && device < stand_in::Gpus::get().count(); }

/// As cudaGetDeviceProperties has them on an H100; STAND_IN_CAPABILITY is another architecture.
void describe(cudaDeviceProp& p) {
  p = {};
  std::strcpy(p.name, "stand-in for an H100");
  p.major = 9;
  p.multiProcessorCount = 132;
  p.totalGlobalMem = stand_in::Gpus::get().memory();
  p.sharedMemPerBlock = 49152;
  p.sharedMemPerBlockOptin = 232448;
  p.sharedMemPerMultiprocessor = 233472;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.textureAlignment = 512;
  p.l2CacheSize = 52428800;
  p.concurrentKernels = p.unifiedAddressing = 1;
}

}  // namespace

cudaError_t stand_in::result(int error) {
  if (error != 0) last_error = static_cast<cudaError_t>(error);
  return static_cast<cudaError_t>(error);
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = stand_in::Gpus::get().count();
  return stand_in::result(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device) {
  *device = stand_in::Gpus::current();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return stand_in::result(cudaErrorInvalidDevice);
  const stand_in::LockedGpus gpus;
  gpus->use(device);
  stand_in::Gpus::select(device);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!exists(device)) return stand_in::result(cudaErrorInvalidDevice);
  describe(*properties);
  properties->pciBusID = 0x1b + device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!exists(device)) return stand_in::result(cudaErrorInvalidDevice);
  cudaDeviceProp p;
  describe(p);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 49152;
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = 65536;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    default:
      *value = 0;  // what a device may have or not
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", 0x1b + device);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaError";
}
// The sentences of CUDA for what the stand-in gives.
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
    default:
      return "an error of the stand-in for CUDA";
  }
}
}
