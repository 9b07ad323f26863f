// The types that our kernels have names for.
#pragma once

#include <c10/core/ScalarType.h>

#include "accelerator/emulated_cuda.h"

namespace ddptrain::test {

inline constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf};

/// Calls with the kernel of a type.
template <class Float, class Double, class BFloat16, class Half, class Call>
void by_type(at::ScalarType type, Float f, Double d, BFloat16 b, Half h, const Call& call) {
  if (type == at::kFloat) call(f);
  if (type == at::kDouble) call(d);
  if (type == at::kBFloat16) call(b);
  if (type == at::kHalf) call(h);
}

}  // namespace ddptrain::test
