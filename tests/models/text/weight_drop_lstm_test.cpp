#include "models/text/weight_drop_lstm.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// autocast on the CPU while it lives.
struct Autocast {
  explicit Autocast(at::ScalarType type) {
    at::autocast::set_autocast_dtype(at::kCPU, type);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::clear_cache();
  }
};

/// The largest difference to single precision of outputs, which lie between -1 and 1; gradients are
/// in single precision.
double difference_under(at::ScalarType type, bool bidir) {
  WeightDropLstm lstm({.in = 16, .out = 16, .bidir = bidir}, at::detail::createCPUGenerator(1));
  const auto input = at::randn({4, 5, 16});
  const auto expected = lstm.forward(input, {.training = true});
  at::Tensor output;
  {
    const Autocast on(type);
    output = lstm.forward(input, {.training = true});
  }
  output.sum().backward();
  for (const auto& [name, tensor] : lstm.named_parameters())
    EXPECT_EQ(tensor.grad().scalar_type(), at::kFloat) << name;
  return (output.to(at::kFloat) - expected).abs().max().item<double>();
}

// A number of bfloat16 has eight bits, and a sum of 32 products and 5 steps carries some of them.
// Processors without AVX-512 have no such LSTM in oneDNN, where autocast ended in an error.
TEST(WeightDropLstm, RunsUnderAutocastOnAnyProcessor) {
  for (const bool bidir : {false, true})
    EXPECT_LT(difference_under(at::kBFloat16, bidir), 0.05) << bidir;
}

// oneDNN trains no LSTM in float16 on any.
TEST(WeightDropLstm, ComputesInItsOwnTypeWhereAutocastCannot) {
  for (const bool bidir : {false, true}) EXPECT_EQ(difference_under(at::kHalf, bidir), 0) << bidir;
}

}  // namespace
}  // namespace ddptrain
