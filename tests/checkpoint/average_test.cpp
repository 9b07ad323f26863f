#include "checkpoint/average.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

at::Tensor floats(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat);
}

TEST(AverageWeights, IsTheMeanInDoubleAndKeepsTypes) {
  // In float32 1e8 + 1 loses the 1.
  const std::vector<std::vector<NamedTensor>> models{
      {{"w", floats({1e8, 1})}, {"seen", at::tensor(std::vector<std::int64_t>{3})}},
      {{"w", floats({1, 2})}, {"seen", at::tensor(std::vector<std::int64_t>{4})}},
      {{"w", floats({-1e8, 6})}, {"seen", at::tensor(std::vector<std::int64_t>{9})}}};
  const auto mean = average_weights(models, {"a", "b", "c"});
  ASSERT_EQ(mean.size(), 2U);
  EXPECT_EQ(mean[0].tensor.scalar_type(), at::kFloat);
  EXPECT_EQ(mean[0].tensor[0].item<float>(), static_cast<float>(1.0 / 3));
  EXPECT_EQ(mean[0].tensor[1].item<float>(), 3);
  EXPECT_EQ(mean[1].tensor[0].item<std::int64_t>(), 9);
  EXPECT_EQ(models[0][0].tensor[0].item<float>(), 1e8F);  // nothing was changed in place
}

TEST(AverageWeights, OfDoublesDoesNotChangeThem) {
  const std::vector<std::vector<NamedTensor>> models{{{"w", at::tensor(std::vector<double>{1})}},
                                                     {{"w", at::tensor(std::vector<double>{2})}}};
  EXPECT_EQ(average_weights(models, {"a", "b"})[0].tensor.item<double>(), 1.5);
  EXPECT_EQ(models[0][0].tensor.item<double>(), 1);
}

TEST(AverageWeights, RefusesModelsThatDiffer) {
  const NamedTensor w{"w", at::zeros({2})}, v{"v", at::zeros({2})};
  const auto average = [](const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
    average_weights({a, b}, {"a.safetensors", "b.safetensors"});
  };
  EXPECT_THAT(
      [&] {
        average({w, v}, {w});
      },
      ThrowsMessage<Error>(HasSubstr("'b.safetensors' cannot be averaged with "
                                     "'a.safetensors': it has no 'v'")));
  EXPECT_THAT(
      [&] {
        average({w}, {w, v});
      },
      ThrowsMessage<Error>(HasSubstr("'a.safetensors' cannot be averaged with "
                                     "'b.safetensors': it has no 'v'")));
  EXPECT_THAT(
      [&] {
        average({w}, {{"w", at::zeros({3})}});
      },
      ThrowsMessage<Error>(HasSubstr("'w' is [3] there and [2] here")));
}

}  // namespace
}  // namespace ddptrain
