#include "train/run/torch_warnings.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(TorchWarnings, AreSaidOnceEach) {
  testing::internal::CaptureStderr();
  {
    const TorchWarnings warnings;
    for (int i = 0; i < 3; ++i) TORCH_WARN("weights are not contiguous\nframe #0");
    TORCH_WARN("something else");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: LibTorch: weights are not contiguous\nwarning: LibTorch: something else\n");
}

}  // namespace
}  // namespace ddptrain
