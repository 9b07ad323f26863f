#include "data/loader/scored.h"

#include "base/names.h"
#include "data/preview.h"
#include "data/unknown.h"

namespace ddptrain {
namespace {

class ScoredDataset final : public Dataset, public CountsUnknown {
 public:
  ScoredDataset(std::unique_ptr<Dataset> data, bool all) : data_(std::move(data)), all_(all) {}

  const DataFacts& facts() const override { return data_->facts(); }
  std::int64_t size(Split split) const override {
    const auto train = data_->size(Split::train);
    return split == Split::valid && all_ ? train + data_->size(Split::valid) : train;
  }
  Batch allocate(Split split, std::int64_t rows) const override {
    return data_->allocate(split, rows);
  }
  std::int64_t length(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->length(at.split, at.index);
  }
  Batch allocate_length(Split split, std::int64_t rows, std::int64_t length) const override {
    return data_->allocate_length(split, rows, length);
  }
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override {
    return data_->allocate_train(epoch, rows);
  }
  std::vector<std::int64_t> changes_of_shape() const override { return data_->changes_of_shape(); }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    const auto at = place(split, index);
    auto drawn = draw;
    drawn.plain = split == Split::valid;
    return data_->load(at.split, at.index, drawn, batch, row);
  }
  std::string sample_name(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->sample_name(at.split, at.index);
  }
  std::string name_kind() const override { return data_->name_kind(); }
  std::int64_t label(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->label(at.split, at.index);
  }
  std::vector<std::int64_t> labels(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->labels(at.split, at.index);
  }
  std::vector<double> weights(Split split) const override { return data_->weights(split); }
  std::int64_t shard(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->shard(at.split, at.index);
  }
  bool loads_from_memory() const override { return data_->loads_from_memory(); }
  void announce(Split split, std::span<const std::int64_t> order) const override {
    if (split == Split::train || !all_) return data_->announce(Split::train, order);
    const auto train = data_->size(Split::train);
    std::vector<std::int64_t> own;
    for (const auto index : order)
      if (index < train) own.push_back(index);
    data_->announce(Split::train, own);
  }
  bool has_target(Split split, std::int64_t index) const override {
    const auto at = place(split, index);
    return data_->has_target(at.split, at.index);
  }
  std::string state() const override { return data_->state(); }
  std::vector<UnknownValues> unknown(Split split) const override {
    auto found = unknown_values(*data_, Split::train);
    if (split == Split::valid && all_)
      for (const auto& more : unknown_values(*data_, Split::valid)) add(found, more);
    for (auto& each : found)
      if (!each.column.empty()) each.of = size(split);
    return found;
  }
  Preview preview(Split split, std::int64_t index, const Draw& draw) const override {
    const auto at = place(split, index);
    return data_->preview(at.split, at.index, draw);
  }
  const PredictionForm* prediction_form() const override { return data_->prediction_form(); }
  at::Tensor aligned(const at::Tensor& predictions, const Batch& from,
                     const Batch& to) const override {
    return data_->aligned(predictions, from, to);
  }
  std::string digest() const override { return data_->digest(); }

 private:
  struct Place {
    Split split;
    std::int64_t index;
  };
  static void add(std::vector<UnknownValues>& all, const UnknownValues& more) {
    for (auto& each : all)
      if (each.column == more.column) {
        each.values += more.values;
        each.of += more.of;
        each.samples += more.samples;
        return;
      }
    all.push_back(more);
  }
  /// Where a sample stands in the dataset itself.
  Place place(Split split, std::int64_t index) const {
    const auto train = data_->size(Split::train);
    if (split == Split::train || index < train) return {Split::train, index};
    return {Split::valid, index - train};
  }

  std::unique_ptr<Dataset> data_;
  bool all_;
};

}  // namespace

std::span<const std::string_view> names(Scored) { return kNameList<"valid", "train", "all">; }

std::unique_ptr<Dataset> with_scored(std::unique_ptr<Dataset> data, Scored scored) {
  if (scored == Scored::valid) return data;
  return std::make_unique<ScoredDataset>(std::move(data), scored == Scored::all);
}

std::int64_t without_target(const Dataset& data, Split split) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < data.size(split); ++i) count += !data.has_target(split, i);
  return count;
}

std::vector<std::string> absent_classes(const Dataset& data, Split split) {
  if (data.facts().mask) return {};  // samples have several, which only their masks tell
  const auto& names = data.facts().classes;
  std::vector<bool> present(names.size());
  for (std::int64_t i = 0; i < data.size(split) && !names.empty(); ++i)
    for (const auto label : data.labels(split, i))
      present.at(static_cast<std::size_t>(label)) = true;
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!present[i]) absent.push_back(names[i]);
  return absent;
}

}  // namespace ddptrain
