// Batches that are copied ahead are those of the loader, without a wait for them.
#include "data/loader/prefetcher.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <numeric>

#include "data/numbers_dataset.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

/// Micro-batches of these sizes, in the order of the samples.
EpochPlan epoch_of(const std::vector<std::int64_t>& sizes, std::int64_t epoch = 0) {
  EpochPlan plan;
  plan.epoch = epoch;
  std::int64_t first = 0;
  for (const auto size : sizes) {
    Micro micro;
    micro.positions.resize(static_cast<std::size_t>(size));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    micro.first_row = first;
    first += size;
    plan.micros.push_back(std::move(micro));
  }
  plan.order.resize(static_cast<std::size_t>(first));
  std::iota(plan.order.begin(), plan.order.end(), 0);
  return plan;
}

LoaderOptions pinned(int workers) {
  LoaderOptions options;
  options.workers = workers;
  options.prefetch = 2;
  options.pinned = true;
  return options;
}

std::unique_ptr<Loader> on_devices(const Dataset& data, int devices, int workers = 2) {
  std::vector<at::Device> places;
  for (int i = 0; i < devices; ++i) places.push_back(test::simulated_device(i));
  return make_prefetcher(make_loader(data, pinned(workers)), places);
}

/// What an engine does with a batch: its tensors as a stream finds them that waits for nothing
/// else.
Batch read(Batch batch) {
  for (auto* tensors : {&batch.inputs, &batch.targets})
    for (auto& tensor : *tensors) tensor = tensor.clone();
  return batch;
}

void expect_same(const Batch& there, const Batch& here) {
  EXPECT_EQ(there.indices, here.indices);
  EXPECT_EQ(there.rows, here.rows);
  EXPECT_EQ(there.first_row, here.first_row);
  EXPECT_EQ(there.positions, here.positions);
  EXPECT_EQ(there.left_out, here.left_out);
  EXPECT_EQ(there.inputs.at(0).device(), test::simulated_device());
  EXPECT_TRUE(at::equal(there.inputs.at(0).cpu(), here.inputs.at(0)));
  EXPECT_TRUE(at::equal(there.targets.at(0).cpu(), here.targets.at(0)));
}

const std::vector<std::int64_t> sizes{8, 8, 8, 8, 8, 8, 8, 3};

TEST(Prefetcher, BringsTheBatchesOfItsLoaderOnceEachWithoutAWait) {
  test::simulated_accelerator();
  NumbersDataset data(59);
  data.bad = {3, 17, 58};
  for (const int workers : {0, 2}) {
    const auto host = make_loader(data, {.workers = 0});
    const auto there = on_devices(data, 1, workers);
    for (const std::int64_t epoch : {0, 1}) {
      host->start(epoch_of(sizes, epoch));
      there->start(epoch_of(sizes, epoch));
      simulated::reset();
      std::vector<Batch> taken;
      for (std::size_t i = 0; i < sizes.size(); ++i) taken.push_back(read(there->next()));
      const auto counts = simulated::counts();
      EXPECT_EQ(counts.from_pinned, 2 * std::ssize(sizes));
      EXPECT_EQ(counts.from_pageable, 0);
      EXPECT_EQ(counts.waited(), 0);
      EXPECT_EQ(counts.freed_in_use, 0);
      for (const auto& batch : taken) expect_same(batch, host->next());
    }
  }
}

// Nothing computes, so every copy runs as late as it may.
TEST(Prefetcher, LetsNobodyWriteIntoMemoryThatIsCopied) {
  test::simulated_accelerator();
  NumbersDataset data(200);
  const std::vector<std::int64_t> many(50, 4);
  const auto host = make_loader(data, {.workers = 0});
  host->start(epoch_of(many));
  const auto there = on_devices(data, 1);
  there->start(epoch_of(many));
  std::vector<Batch> taken;
  for (std::size_t i = 0; i < many.size(); ++i) taken.push_back(there->next());
  for (const auto& batch : taken) expect_same(batch, host->next());
}

/// Batches of one row that holds its number; the third cannot be loaded.
class Failing final : public Loader {
 public:
  explicit Failing(int& asked) : asked_(asked) {}
  void start(EpochPlan) override { asked_ = 0; }
  Batch next() override {
    if (asked_++ == 2) throw Error(Exit::data, "the third");
    Batch batch;
    batch.rows = 1;
    batch.inputs = {at::full({1}, asked_ - 1, at::TensorOptions(at::kDouble).pinned_memory(true))};
    return batch;
  }

 private:
  int& asked_;
};

TEST(Prefetcher, ThrowsWhenTheBatchIsDueThatCannotBeLoaded) {
  test::simulated_accelerator();
  int asked = 0;
  const auto loader = make_prefetcher(std::make_unique<Failing>(asked), {test::simulated_device()});
  loader->start(epoch_of({1, 1, 1, 1}));
  EXPECT_EQ(loader->next().inputs.at(0).item<double>(), 0);
  EXPECT_EQ(asked, 3) << "two are ahead, of which one failed";
  EXPECT_EQ(loader->next().inputs.at(0).item<double>(), 1);
  EXPECT_THROW(loader->next(), Error);
  EXPECT_EQ(loader->next().inputs.at(0).item<double>(), 3);
  EXPECT_EQ(asked, 4) << "no more than the epoch has";
}

TEST(Prefetcher, StartsAnEpochWithItsOwnBatches) {
  test::simulated_accelerator();
  NumbersDataset data(59);
  const auto host = make_loader(data, {.workers = 0});
  const auto there = on_devices(data, 1);
  there->start(epoch_of(sizes));
  there->next();
  host->start(epoch_of({5, 2}, 4));
  there->start(epoch_of({5, 2}, 4));
  for (int i = 0; i < 2; ++i) expect_same(read(there->next()), host->next());
}

TEST(Prefetcher, GivesEachReplicaItsRows) {
  test::simulated_accelerator();
  NumbersDataset data(8);
  data.bad = {1};
  const auto host = make_loader(data, {.workers = 0});
  const auto there = on_devices(data, 2);
  host->start(epoch_of({8}));
  there->start(epoch_of({8}));
  const auto all = host->next();
  const auto batch = there->next();
  EXPECT_EQ(batch.rows, 7);
  EXPECT_EQ(batch.indices, all.indices);
  ASSERT_EQ(batch.parts.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    const auto& part = batch.parts[static_cast<std::size_t>(i)];
    const auto own = i == 0 ? slice(all, 0, 4) : slice(all, 4, 3);
    EXPECT_EQ(part.inputs.at(0).device(), test::simulated_device(i));
    EXPECT_TRUE(at::equal(part.inputs.at(0).clone().cpu(), own.inputs.at(0)));
    EXPECT_EQ(part.positions, own.positions);
  }
  auto plan = epoch_of({8});
  plan.whole = true;
  there->start(std::move(plan));
  EXPECT_EQ(there->next().inputs.at(0).size(0), 7);
}

}  // namespace
}  // namespace ddptrain
