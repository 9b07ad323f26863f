// Samples that cannot be read: a dataset that skips them, and how many there may be.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "data/dataset.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// A sample that cannot be read (Exit::data) becomes a row of zeros: the other rows keep their
/// places in the batch.
class SkippingDataset final : public Dataset {
 public:
  explicit SkippingDataset(std::unique_ptr<Dataset> inner) : inner_(std::move(inner)) {}

  const DataFacts& facts() const override { return inner_->facts(); }
  std::int64_t size(Split split) const override { return inner_->size(split); }
  Batch allocate(Split split, std::int64_t rows) const override {
    return inner_->allocate(split, rows);
  }
  std::int64_t length(Split split, std::int64_t index) const override {
    return inner_->length(split, index);
  }
  Batch allocate_length(Split split, std::int64_t rows, std::int64_t length) const override {
    return inner_->allocate_length(split, rows, length);
  }
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override {
    return inner_->allocate_train(epoch, rows);
  }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override;
  std::string sample_name(Split split, std::int64_t index) const override {
    return inner_->sample_name(split, index);
  }
  std::string name_kind() const override { return inner_->name_kind(); }
  std::int64_t label(Split split, std::int64_t index) const override {
    return inner_->label(split, index);
  }
  bool has_target(Split split, std::int64_t index) const override {
    return inner_->has_target(split, index);
  }
  std::int64_t shard(Split split, std::int64_t index) const override {
    return inner_->shard(split, index);
  }
  bool loads_from_memory() const override { return inner_->loads_from_memory(); }
  void announce(Split split, std::span<const std::int64_t> order) const override {
    inner_->announce(split, order);
  }
  const PredictionForm* prediction_form() const override { return inner_->prediction_form(); }
  at::Tensor aligned(const at::Tensor& predictions, const Batch& from,
                     const Batch& to) const override {
    return inner_->aligned(predictions, from, to);
  }
  std::string digest() const override { return inner_->digest(); }

  /// Why a sample could not be read, once; empty: it could.
  std::string take_error(std::int64_t index) const;

 private:
  std::unique_ptr<Dataset> inner_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::string> errors_;
};

/// An Error (Exit::data) where more of `samples` were left out than policy.bad_samples allows; one
/// always may be. The counts are those of all ranks, so all of them throw alike. `which` names the
/// samples: "training samples of epoch 2".
void require_few_bad(const PolicySpec& policy, std::int64_t bad, std::int64_t samples,
                     const std::string& which);

}  // namespace ddptrain
