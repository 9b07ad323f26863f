// A dataset of numbers that says what was loaded where: row = (index, epoch, position).
#pragma once

#include <ATen/ops/empty.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "base/error.h"
#include "data/dataset.h"

namespace ddptrain {

class NumbersDataset final : public Dataset {
 public:
  explicit NumbersDataset(std::int64_t size) : size_(size) {}

  std::set<std::int64_t> bad;      // left out
  std::set<std::int64_t> failing;  // throw
  std::chrono::milliseconds delay{0};
  mutable std::atomic<int> loads = 0;

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return size_; }
  Batch allocate(Split, std::int64_t rows) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs.push_back(at::empty({rows, 3}, at::kDouble));
    batch.targets.push_back(at::empty({rows}, at::kLong));
    return batch;
  }
  bool load(Split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    ++loads;
    if (delay.count() > 0) std::this_thread::sleep_for(delay * (1 + index % 3));
    if (failing.contains(index)) throw Error(Exit::data, "sample " + std::to_string(index));
    if (bad.contains(index)) return false;
    auto* values = batch.inputs[0].mutable_data_ptr<double>() + 3 * row;
    values[0] = static_cast<double>(index);
    values[1] = static_cast<double>(draw.epoch);
    values[2] = static_cast<double>(draw.position);
    batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = index;
    return true;
  }
  std::string sample_name(Split, std::int64_t index) const override {
    return std::to_string(index);
  }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return std::to_string(size_); }

 private:
  std::int64_t size_;
  DataFacts facts_;
};

}  // namespace ddptrain
