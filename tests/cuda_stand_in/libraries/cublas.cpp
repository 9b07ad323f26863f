// libcublas: what LibTorch calls for products of matrices. A product is one kernel.
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

#include "cuda_stand_in/libraries/matrices.h"
#include "cuda_stand_in/runtime/launches.h"

namespace {

using ddptrain::stand_in::library_kernel;
using ddptrain::stand_in::MatrixExtent;
using ddptrain::stand_in::reads;
using ddptrain::stand_in::writes;

struct BlasHandle {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};

BlasHandle& handle_of(cublasHandle_t handle) { return *reinterpret_cast<BlasHandle*>(handle); }

struct Factor {
  const void* data;
  cublasOperation_t operation;
  std::int64_t leading, stride;
};

struct Product {
  const char* name;
  std::int64_t m, n, k, batches;
  std::size_t number, result_number;
};

MatrixExtent extent(const Factor& of, std::int64_t rows, std::int64_t columns,
                    std::int64_t batches) {
  if (of.operation != CUBLAS_OP_N) std::swap(rows, columns);
  return {rows, columns, of.leading, batches, of.stride};
}

cublasStatus_t multiply(cublasHandle_t handle, const Product& p, const Factor& a, const Factor& b,
                        void* c, std::int64_t leading, std::int64_t stride) {
  library_kernel(
      p.name, handle_of(handle).stream,
      {reads(a.data, extent(a, p.m, p.k, p.batches).bytes(p.number)),
       reads(b.data, extent(b, p.k, p.n, p.batches).bytes(p.number)),
       writes(c, MatrixExtent{p.m, p.n, leading, p.batches, stride}.bytes(p.result_number))});
  return CUBLAS_STATUS_SUCCESS;
}

template <class Number>
cublasStatus_t gemm(const char* name, cublasHandle_t handle, cublasOperation_t ta,
                    cublasOperation_t tb, int m, int n, int k, const Number* a, int lda,
                    long long stride_a, const Number* b, int ldb, long long stride_b, Number* c,
                    int ldc, long long stride_c, int batches) {
  return multiply(handle, {name, m, n, k, batches, sizeof(Number), sizeof(Number)},
                  {a, ta, lda, stride_a}, {b, tb, ldb, stride_b}, c, ldc, stride_c);
}

template <class Number>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t operation, int m,
                    int n, const Number* a, int lda, const Number* x, int incx, Number* y,
                    int incy) {
  const bool is_plain = operation == CUBLAS_OP_N;
  const MatrixExtent input{1, is_plain ? n : m, incx}, output{1, is_plain ? m : n, incy};
  library_kernel(name, handle_of(handle).stream,
                 {reads(a, MatrixExtent{m, n, lda}.bytes(sizeof(Number))),
                  reads(x, input.bytes(sizeof(Number))), writes(y, output.bytes(sizeof(Number)))});
  return CUBLAS_STATUS_SUCCESS;
}

template <class Number>
cublasStatus_t dot(const char* name, cublasHandle_t handle, int n, const Number* x, int incx,
                   const Number* y, int incy) {
  library_kernel(name, handle_of(handle).stream,
                 {reads(x, MatrixExtent{1, n, incx}.bytes(sizeof(Number))),
                  reads(y, MatrixExtent{1, n, incy}.bytes(sizeof(Number)))});
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new BlasHandle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete &handle_of(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle_of(handle).stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle_of(handle).math = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle_of(handle).math;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle_of(handle).pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle_of(handle).pointers;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) { return "an error of the stand-in for cuBLAS"; }

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                              int m, int n, int k, const float*, const float* a, int lda,
                              const float* b, int ldb, const float*, float* c, int ldc) {
  return gemm("cublasSgemm", handle, ta, tb, m, n, k, a, lda, 0, b, ldb, 0, c, ldc, 0, 1);
}
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                              int m, int n, int k, const double*, const double* a, int lda,
                              const double* b, int ldb, const double*, double* c, int ldc) {
  return gemm("cublasDgemm", handle, ta, tb, m, n, k, a, lda, 0, b, ldb, 0, c, ldc, 0, 1);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k, const float*,
                                         const float* a, int lda, long long stride_a,
                                         const float* b, int ldb, long long stride_b, const float*,
                                         float* c, int ldc, long long stride_c, int batches) {
  return gemm("cublasSgemmStridedBatched", handle, ta, tb, m, n, k, a, lda, stride_a, b, ldb,
              stride_b, c, ldc, stride_c, batches);
}
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k, const double*,
                                         const double* a, int lda, long long stride_a,
                                         const double* b, int ldb, long long stride_b,
                                         const double*, double* c, int ldc, long long stride_c,
                                         int batches) {
  return gemm("cublasDgemmStridedBatched", handle, ta, tb, m, n, k, a, lda, stride_a, b, ldb,
              stride_b, c, ldc, stride_c, batches);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                            int m, int n, int k, const void*, const void* a, cudaDataType type,
                            int lda, const void* b, cudaDataType, int ldb, const void*, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t, cublasGemmAlgo_t) {
  using ddptrain::stand_in::bytes_of;
  return multiply(handle, {"cublasGemmEx", m, n, k, 1, bytes_of(type), bytes_of(type_c)},
                  {a, ta, lda, 0}, {b, tb, ldb, 0}, c, ldc, 0);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta,
                                          cublasOperation_t tb, int m, int n, int k, const void*,
                                          const void* a, cudaDataType type, int lda,
                                          long long stride_a, const void* b, cudaDataType, int ldb,
                                          long long stride_b, const void*, void* c,
                                          cudaDataType type_c, int ldc, long long stride_c,
                                          int batches, cublasComputeType_t, cublasGemmAlgo_t) {
  using ddptrain::stand_in::bytes_of;
  return multiply(
      handle, {"cublasGemmStridedBatchedEx", m, n, k, batches, bytes_of(type), bytes_of(type_c)},
      {a, ta, lda, stride_a}, {b, tb, ldb, stride_b}, c, ldc, stride_c);
}
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const float*, const float* a, int lda, const float* x, int incx,
                              const float*, float* y, int incy) {
  return gemv("cublasSgemv", handle, operation, m, n, a, lda, x, incx, y, incy);
}
cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const double*, const double* a, int lda, const double* x, int incx,
                              const double*, double* y, int incy) {
  return gemv("cublasDgemv", handle, operation, m, n, a, lda, x, incx, y, incy);
}
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y,
                             int incy, float*) {
  return dot("cublasSdot", handle, n, x, incx, y, incy);
}
cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double* x, int incx,
                             const double* y, int incy, double*) {
  return dot("cublasDdot", handle, n, x, incx, y, incy);
}
}
