// libcublasLt: products with a bias or an activation.
#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#include <cstring>

#include "cuda_stand_in/libraries/matrices.h"
#include "cuda_stand_in/runtime/launches.h"

namespace {

using ddptrain::stand_in::MatrixExtent;

struct LtLayout {
  cudaDataType type;
  MatrixExtent extent;
};

const LtLayout& layout_of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<LtLayout*>(layout);
}

std::size_t bytes_of(cublasLtMatrixLayout_t layout) {
  const auto& of = layout_of(layout);
  return of.extent.bytes(ddptrain::stand_in::bytes_of(of.type));
}

/// Handles, descriptors and preferences of which nothing is read.
template <class Handle>
cublasStatus_t make(Handle* to) {
  *to = reinterpret_cast<Handle>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Handle>
cublasStatus_t destroy(Handle handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* to) { return make(to); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to, cublasComputeType_t,
                                        cudaDataType_t) {
  return make(to);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  return destroy(descriptor);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                              const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) { return make(to); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  const MatrixExtent extent{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                            leading};
  *to = reinterpret_cast<cublasLtMatrixLayout_t>(new LtLayout{type, extent});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &layout_of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t) {
  auto& extent = reinterpret_cast<LtLayout*>(layout)->extent;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    std::int32_t count = 0;
    std::memcpy(&count, value, sizeof count);
    extent.matrices = count;
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    std::memcpy(&extent.stride, value, sizeof extent.stride);
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  results[0] = {};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void* a,
                              cublasLtMatrixLayout_t of_a, const void* b,
                              cublasLtMatrixLayout_t of_b, const void*, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  ddptrain::stand_in::library_kernel(
      "cublasLtMatmul", stream,
      {ddptrain::stand_in::reads(a, bytes_of(of_a)), ddptrain::stand_in::reads(b, bytes_of(of_b)),
       ddptrain::stand_in::writes(d, bytes_of(of_d))});
  return CUBLAS_STATUS_SUCCESS;
}
}
