// How much memory matrices of cuBLAS take.
#pragma once

#include <library_types.h>
#include <cstddef>
#include <cstdint>

namespace ddptrain::stand_in {

/// Columns one after another, `leading` numbers from one to the next; `matrices` of them, `stride`
/// numbers from one to the next.
struct MatrixExtent {
  std::int64_t rows = 0, columns = 0, leading = 0, matrices = 1, stride = 0;
  std::size_t bytes(std::size_t number) const {
    if (rows == 0 || columns == 0 || matrices == 0) return 0;
    const auto last = (matrices - 1) * stride + (columns - 1) * leading + rows;
    return static_cast<std::size_t>(last) * number;
  }
};

inline std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_64F:
      return 8;
    default:
      return 4;
  }
}

}  // namespace ddptrain::stand_in
