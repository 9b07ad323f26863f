#include "data/loader/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "data/numbers_dataset.h"

namespace ddptrain {
namespace {

using std::chrono::milliseconds;

/// An epoch whose order is 0, 7, 14, ... modulo the size, in micro-batches of these sizes.
EpochPlan epoch_of(const Dataset& data, const std::vector<std::int64_t>& sizes,
                   std::int64_t epoch = 0) {
  EpochPlan plan;
  plan.epoch = epoch;
  const auto n = data.size(Split::train);
  for (std::int64_t i = 0; i < n; ++i) plan.order.push_back(i * 7 % n);
  std::int64_t first = 0;
  for (const auto size : sizes) {
    Micro micro;
    micro.positions.resize(static_cast<std::size_t>(size));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    micro.first_row = first;
    first += size;
    plan.micros.push_back(std::move(micro));
  }
  return plan;
}

std::vector<double> values(const at::Tensor& tensor) {
  const auto flat = tensor.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

LoaderOptions with(int workers, int prefetch = 3) {
  LoaderOptions options;
  options.workers = workers;
  options.prefetch = prefetch;
  return options;
}

TEST(Loader, DeliversMicroBatchesInOrderWhateverTheWorkers) {
  NumbersDataset data(50);
  data.delay = milliseconds(1);
  const std::vector<std::int64_t> sizes{5, 0, 7, 1, 20, 17, 0};
  for (int workers : {0, 1, 3, 8})
    for (int prefetch : {1, 2, 5}) {
      const auto loader = make_loader(data, with(workers, prefetch));
      for (std::int64_t epoch : {0, 1}) {
        auto plan = epoch_of(data, sizes, epoch);
        const auto order = plan.order;
        loader->start(std::move(plan));
        std::int64_t position = 0;
        for (const auto size : sizes) {
          const auto batch = loader->next();
          ASSERT_EQ(batch.rows, size);
          EXPECT_EQ(batch.first_row, position);
          ASSERT_EQ(batch.inputs.at(0).size(0), size);
          const auto rows = values(batch.inputs[0]);
          for (std::size_t row = 0; row < batch.indices.size(); ++row, ++position) {
            EXPECT_EQ(batch.indices[row], order[static_cast<std::size_t>(position)]);
            EXPECT_EQ(rows[3 * row], batch.indices[row]);
            EXPECT_EQ(rows[3 * row + 1], epoch);
            EXPECT_EQ(rows[3 * row + 2], position);
          }
        }
      }
    }
}

TEST(Loader, ThrowsTheFirstFailureOfABatchWhenThatBatchIsDue) {
  NumbersDataset data(40);
  data.failing = {7 * 12 % 40, 7 * 15 % 40, 7 * 35 % 40};
  for (int workers : {0, 1, 4}) {
    const auto loader = make_loader(data, with(workers));
    for (int again = 0; again < 3; ++again) {
      loader->start(epoch_of(data, {10, 10, 10, 10}));
      EXPECT_EQ(loader->next().rows, 10);
      try {
        loader->next();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), "sample " + std::to_string(7 * 12 % 40));
      }
      EXPECT_EQ(loader->next().rows, 10);
    }
  }
}

TEST(Loader, SaysWhatGoesWrongBeforeARowIsLoaded) {
  NumbersDataset data(10);
  for (int workers : {0, 2}) {
    const auto loader = make_loader(data, with(workers));
    auto plan = epoch_of(data, {5, 5});
    plan.micros[1].positions[2] = 10;  // no such place in the order
    loader->start(std::move(plan));
    EXPECT_EQ(loader->next().rows, 5);
    EXPECT_THROW(loader->next(), std::out_of_range);
  }
}

TEST(Loader, LeavesBadRowsOutAndKeepsThePositionsOfTheOthers) {
  NumbersDataset data(20);
  data.bad = {0, 7 * 3 % 20, 7 * 9 % 20};
  for (int workers : {0, 2}) {
    const auto loader = make_loader(data, with(workers));
    loader->start(epoch_of(data, {10, 10}));
    const auto batch = loader->next();
    EXPECT_EQ(batch.rows, 7);
    EXPECT_EQ(batch.inputs.at(0).size(0), 7);
    EXPECT_EQ(batch.targets.at(0).size(0), 7);
    const auto rows = values(batch.inputs[0]);
    for (std::size_t row = 0; row < 7; ++row) {
      EXPECT_FALSE(data.bad.contains(batch.indices.at(row)));
      EXPECT_EQ(rows[3 * row], batch.indices[row]);
    }
    EXPECT_EQ(batch.left_out, 3);
    // Samples 0, 1 and 3 are at positions 0, 3 and 9 of the order 0, 7, 14, 1, 8, 15, 2, 9, 16, 3.
    EXPECT_EQ(batch.positions, (std::vector<std::int64_t>{1, 2, 4, 5, 6, 7, 8}));
    const auto whole = loader->next();
    EXPECT_EQ(whole.left_out, 0);
    EXPECT_TRUE(whole.positions.empty());
  }
}

TEST(Loader, DropsWhatIsUnderWayWhenAnEpochStartsAnew) {
  NumbersDataset data(400);
  data.delay = milliseconds(2);
  const auto loader = make_loader(data, with(4));
  loader->start(epoch_of(data, std::vector<std::int64_t>(10, 40)));
  const int before = data.loads;
  loader->start(epoch_of(data, {2, 2}, 5));
  const auto batch = loader->next();
  EXPECT_LE(data.loads - before, 4 * 16) << "each of four workers ends the rows that it has begun";
  EXPECT_EQ(values(batch.inputs.at(0))[1], 5);
}

TEST(Loader, LeavesAtOnceWhileWorkersRun) {
  NumbersDataset data(400);
  data.delay = milliseconds(2);
  auto loader = make_loader(data, with(4, 8));
  loader->start(epoch_of(data, std::vector<std::int64_t>(10, 40)));
  loader->next();
  const int before = data.loads;
  loader.reset();
  EXPECT_LE(data.loads - before, 4 * 16) << "each of four workers ends the rows that it has begun";
}

TEST(Loader, LoadsNoFurtherAheadThanPrefetch) {
  NumbersDataset data(100);
  const auto loader = make_loader(data, with(2, 3));
  loader->start(epoch_of(data, std::vector<std::int64_t>(10, 10)));
  loader->next();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_LE(data.loads, 40);
}

TEST(Loader, WaitsWithoutUsingTheProcessor) {
  NumbersDataset data(10);
  data.delay = milliseconds(30);
  const auto loader = make_loader(data, with(2));
  const auto before = std::clock();
  loader->start(epoch_of(data, {10}));
  loader->next();
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

TEST(Loader, UsesMemoryAgainOnlyWhenNobodyHoldsIt) {
  NumbersDataset data(400);
  const auto loader = make_loader(data, with(1, 2));
  loader->start(epoch_of(data, std::vector<std::int64_t>(40, 10)));
  const auto held = loader->next();
  const auto view = loader->next().inputs.at(0).narrow(0, 2, 3);
  const auto first = values(held.inputs.at(0)), second = values(view);
  std::set<const void*> memory;
  for (int i = 2; i < 40; ++i) memory.insert(loader->next().inputs.at(0).const_data_ptr());
  EXPECT_LE(memory.size(), 8);
  EXPECT_FALSE(memory.contains(held.inputs.at(0).const_data_ptr()));
  EXPECT_EQ(values(held.inputs.at(0)), first);
  EXPECT_EQ(values(view), second);
}

TEST(Loader, DrawsForEachPassOverHeldOutSamples) {
  NumbersDataset data(6);
  auto options = with(2);
  options.split = Split::valid;
  const auto loader = make_loader(data, options);
  auto plan = epoch_of(data, {6, 6, 6});
  for (std::int64_t pass = 0; pass < 3; ++pass) {
    auto& micro = plan.micros[static_cast<std::size_t>(pass)];
    micro.pass = pass;
    std::iota(micro.positions.begin(), micro.positions.end(), 0);
  }
  loader->start(std::move(plan));
  for (std::int64_t pass = 0; pass < 3; ++pass) {
    const auto batch = loader->next();
    const auto rows = values(batch.inputs[0]);
    for (std::size_t row = 0; row < 6; ++row) {
      EXPECT_EQ(rows[3 * row], batch.indices[row]);
      EXPECT_EQ(rows[3 * row + 1], pass);  // instead of the epoch
      EXPECT_EQ(rows[3 * row + 2], row);
    }
  }
}

}  // namespace
}  // namespace ddptrain
