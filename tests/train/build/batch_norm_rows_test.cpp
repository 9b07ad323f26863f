// A batch of one row is known from sizes, and refused where batch norm would refuse it.
#include "train/build/batch_norm_rows.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;

ShardPlan cut_into(std::int64_t world, std::int64_t accumulate = 1, bool drop_last = false) {
  return {Layout::global_batch, world, 32, accumulate, drop_last};
}

TEST(FewestRows, AreThoseOfTheLastBatchUnlessItIsLeftOut) {
  EXPECT_EQ(fewest_rows(33, cut_into(1), {}), 1);
  EXPECT_EQ(fewest_rows(34, cut_into(1), {}), 2);
  EXPECT_EQ(fewest_rows(33, cut_into(1, 1, true), {}), 32);
}

TEST(FewestRows, AreOfAMicroBatchOnARankOrReplica) {
  EXPECT_EQ(fewest_rows(35, cut_into(1, 2), {}), 1);       // 2 and 1
  EXPECT_EQ(fewest_rows(35, cut_into(2), {}), 1);          // 2 and 1
  EXPECT_EQ(fewest_rows(35, cut_into(1), {2, false}), 1);  // 2 and 1
  EXPECT_EQ(fewest_rows(36, cut_into(2), {}), 2);
  EXPECT_EQ(fewest_rows(34, cut_into(4), {}), 1);  // 1, 1 and two ranks without rows
}

TEST(FewestRows, AreThoseOfAllRanksUnderSyncBn) {
  EXPECT_EQ(fewest_rows(34, cut_into(2), {1, true}), 2);
  EXPECT_EQ(fewest_rows(34, cut_into(1), {2, true}), 2);
  EXPECT_EQ(fewest_rows(33, cut_into(2), {1, true}), 1);
  EXPECT_EQ(fewest_rows(34, cut_into(2, 2), {1, true}), 1);
}

std::string refusal(const SmallRun& run) {
  auto world = single_world();
  auto t = small_training(world, run);
  std::vector<at::Tensor> before;
  for (const auto& [name, tensor] : t.engine->model().state()) before.push_back(tensor.clone());
  std::string message;
  try {
    require_rows_for_batch_norm(t);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    message = error.what();
  }
  std::size_t i = 0;
  for (const auto& [name, tensor] : t.engine->model().state())
    EXPECT_TRUE(at::equal(tensor, before[i++])) << name;
  return message;
}

TEST(OneRow, IsRefusedUnderBatchNormWithWhatToDo) {
  SmallRun run;
  run.samples = 17;
  EXPECT_EQ(refusal(run), "");  // dropout does not mind
  run.norm = true;
  EXPECT_EQ(refusal(run),
            "batch.global: 17 training samples an epoch in batches of 8 leave a batch of one row, "
            "of which batch norm has no variance; write 'data.loader.drop_last: true', or another "
            "batch.global");
  run.samples = 18;
  EXPECT_EQ(refusal(run), "");
}

}  // namespace
}  // namespace ddptrain
