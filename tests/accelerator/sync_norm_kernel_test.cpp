// The text of the kernels of synchronized batch norm, compiled here as C++ of the host, against one
// batch norm over the rows of all members.
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <optional>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/emulated_cuda.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/sync_norm.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

constexpr double kSyncEps = 1e-3;
constexpr unsigned kSyncThreads = 4;

/// What one member sends.
at::Tensor packed(const at::Tensor& rows) {
  const auto channels = rows.size(1);
  if (rows.size(0) == 0) return at::zeros({2 * channels + 1}, at::kDouble);
  const auto mean = rows.mean(0), variance = rows.var(0, /*unbiased=*/false);
  const auto to = at::empty({2 * channels + 1}, at::kDouble);
  emulated::launch(&kernels::sync_norm_pack_double, 2, kSyncThreads, mean.const_data_ptr<double>(),
                   variance.const_data_ptr<double>(), to.mutable_data_ptr<double>(),
                   static_cast<int>(channels), static_cast<double>(rows.size(0)));
  return to;
}

struct JoinedNorm {
  at::Tensor mean, variance, inverse, count, running_mean, running_var, batches;
};

JoinedNorm joined_norm(const std::vector<at::Tensor>& members, std::optional<double> momentum,
                       std::int64_t batches) {
  std::vector<at::Tensor> all;
  for (const auto& rows : members) all.push_back(packed(rows));
  const auto gathered = at::stack(all);
  const auto channels = members.front().size(1);
  const auto plane = [&] { return at::zeros({channels}, at::kDouble); };
  JoinedNorm r{plane(),
               plane(),
               plane(),
               at::zeros({1}, at::kInt),
               plane(),
               at::ones({channels}, at::kDouble),
               at::full({}, batches, at::kLong)};
  const SyncNormPlanes to{r.mean.mutable_data_ptr(),        r.variance.mutable_data_ptr(),
                          r.inverse.mutable_data_ptr(),     r.running_mean.mutable_data_ptr(),
                          r.running_var.mutable_data_ptr(), r.count.mutable_data_ptr<int>()};
  const SyncNormArguments arguments{static_cast<int>(members.size()),
                                    static_cast<int>(channels),
                                    momentum.has_value(),
                                    momentum.value_or(0),
                                    kSyncEps,
                                    reinterpret_cast<long long*>(r.batches.mutable_data_ptr())};
  emulated::launch_together(&kernels::sync_norm_join_double, {momentum ? 2U : 1U, 1, 1},
                            kSyncThreads, gathered.const_data_ptr<double>(), to, arguments);
  return r;
}

void expect_near(const at::Tensor& actual, const at::Tensor& expected, const char* what) {
  EXPECT_TRUE(at::allclose(actual, expected, 1e-12, 1e-12)) << what << actual << expected;
}

std::vector<at::Tensor> uneven_members() {
  std::vector<at::Tensor> members;
  for (const std::int64_t rows : {0, 5, 1, 0, 7})
    members.push_back(at::randn({rows, 11}, at::kDouble).mul_(3).add_(20));
  return members;
}

// torch's batch norm over the concatenated rows moves the running statistics by the same momentum.
TEST(SyncNormKernel, IsOneBatchNormOverUnevenMembers) {
  const auto members = uneven_members();
  const auto all = at::cat(members);
  auto mean = at::zeros({11}, at::kDouble), variance = at::ones({11}, at::kDouble);
  const auto [output, saved_mean, saved_inverse] =
      at::native_batch_norm(all, {}, {}, mean, variance, true, 0.3, kSyncEps);
  const auto r = joined_norm(members, 0.3, 4);
  expect_near(r.mean, saved_mean, "mean");
  expect_near(r.variance, all.var(0, /*unbiased=*/false), "variance");
  expect_near(r.inverse, saved_inverse, "inverse");
  expect_near(r.running_mean, mean, "running mean");
  expect_near(r.running_var, variance, "running variance");
  EXPECT_EQ(r.count.item<int>(), 13);
  EXPECT_EQ(r.batches.item<std::int64_t>(), 5);
}

// The fifth batch has a weight of 1 / 5.
TEST(SyncNormKernel, AveragesOverBatchesWithoutAMomentum) {
  const auto members = uneven_members();
  const auto by_share = joined_norm(members, 0.2, 4), averaged = joined_norm(members, {}, 4);
  expect_near(averaged.running_mean, by_share.running_mean, "running mean");
  expect_near(averaged.running_var, by_share.running_var, "running variance");
  EXPECT_EQ(averaged.batches.item<std::int64_t>(), 5);
}

TEST(SyncNormKernel, MovesNothingWithoutRows) {
  const auto none = at::zeros({0, 11}, at::kDouble);
  for (const auto momentum : {std::optional(0.3), std::optional<double>()}) {
    const auto r = joined_norm({none, none}, momentum, 4);
    expect_near(r.running_mean, at::zeros({11}, at::kDouble), "running mean");
    expect_near(r.running_var, at::ones({11}, at::kDouble), "running variance");
    EXPECT_EQ(r.count.item<int>(), 0);
    EXPECT_EQ(r.batches.item<std::int64_t>(), 4);
  }
}

}  // namespace
}  // namespace ddptrain
