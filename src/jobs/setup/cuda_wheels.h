// The wheels that bring CUDA to a LibTorch without it.
#pragma once

#include <string_view>

namespace ddptrain {

/// Of the LibTorch that this was built with: its own wheel, and those of NVIDIA that it needs; as
/// pip's requirements with digests (scripts/libtorch).
std::string_view cuda_wheels();

}  // namespace ddptrain
