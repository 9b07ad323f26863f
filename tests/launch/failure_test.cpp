#include "launch/failure.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ddptrain {
namespace {

Exit code_of(const std::string& message) {
  return failure_of(std::make_exception_ptr(std::runtime_error(message)), 0).code;
}

// What CUDA's allocator, its libraries and the CPU's allocator say.
TEST(Failure, KnowsTheWordsForNoMemory) {
  EXPECT_EQ(code_of("CUDA out of memory. Tried to allocate 20.00 MiB"), Exit::memory);
  EXPECT_EQ(code_of("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
            Exit::memory);
  EXPECT_EQ(code_of("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), Exit::memory);
  EXPECT_EQ(code_of("DefaultCPUAllocator: can't allocate memory"), Exit::memory);
  EXPECT_EQ(code_of("CUDA error: an illegal memory access was encountered"), Exit::bug);
}

}  // namespace
}  // namespace ddptrain
