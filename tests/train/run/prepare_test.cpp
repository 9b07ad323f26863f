// What a process configures before its first tensor.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "train/run/process.h"

namespace ddptrain {
namespace {

bool convolves_in_tf32(Precision precision) {
  Recipe recipe;
  recipe.train.precision = precision;
  Placement placement;
  placement.threads = at::get_num_threads();
  prepare_process(recipe, placement);
  return at::globalContext().allowTF32CuDNN();
}

// LibTorch's own default is true, which leaves fp32 10 bits of mantissa.
TEST(PrepareProcess, LeavesTf32ToThePrecisionOfThatName) {
  EXPECT_FALSE(convolves_in_tf32(Precision::fp32));
  EXPECT_TRUE(convolves_in_tf32(Precision::tf32));
  EXPECT_FALSE(convolves_in_tf32(Precision::bf16));
  at::globalContext().setFloat32MatmulPrecision("highest");
}

}  // namespace
}  // namespace ddptrain
