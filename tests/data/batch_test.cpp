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

}  // namespace
}  // namespace ddptrain
