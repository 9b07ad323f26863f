#include "data/batch.h"

#include <gtest/gtest.h>

#include "data/numbers_dataset.h"

namespace ddptrain {
namespace {

TEST(Slice, TakesRowsOfEveryTensorAsViews) {
  const NumbersDataset data(10);
  auto batch = data.allocate(Split::train, 6);
  batch.indices = {5, 4, 3, 2, 1, 0};
  batch.first_row = 100;
  const auto part = slice(batch, 2, 3);
  EXPECT_EQ(part.rows, 3);
  EXPECT_EQ(part.first_row, 102);
  EXPECT_EQ(part.indices, (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(part.targets.at(0).size(0), 3);
  EXPECT_EQ(part.inputs.at(0).const_data_ptr<double>(),
            batch.inputs.at(0).const_data_ptr<double>() + 6);
  EXPECT_EQ(slice(batch, 6, 0).rows, 0);
}

TEST(LeaveOut, KeepsTheOtherRowsAtTheirPositions) {
  const NumbersDataset data(10);
  auto batch = data.allocate(Split::train, 5);
  batch.first_row = 8;
  for (std::int64_t row = 0; row < 5; ++row) {
    data.load(Split::train, 2 * row, {}, batch, row);
    batch.indices.push_back(2 * row);
  }
  leave_out(batch, {1, 0, 0, 1, 0});
  EXPECT_EQ(batch.rows, 3);
  EXPECT_EQ(batch.left_out, 2);
  EXPECT_EQ(batch.indices, (std::vector<std::int64_t>{2, 4, 8}));
  EXPECT_EQ(batch.positions, (std::vector<std::int64_t>{9, 10, 12}));
  EXPECT_EQ(batch.targets.at(0)[2].item<std::int64_t>(), 8);
  EXPECT_EQ(slice(batch, 1, 2).positions, (std::vector<std::int64_t>{10, 12}));
  EXPECT_EQ(slice(batch, 1, 2).left_out, 0);
}

TEST(LeaveOut, LeavesAWholeBatchAsItIs) {
  const NumbersDataset data(10);
  auto batch = data.allocate(Split::train, 2);
  batch.indices = {0, 1};
  leave_out(batch, {0, 0});
  EXPECT_EQ(batch.rows, 2);
  EXPECT_TRUE(batch.positions.empty());
}

}  // namespace
}  // namespace ddptrain
