#include "data/table/table_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <ATen/ops/empty.h>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/preview.h"
#include "data/targets/number_columns.h"
#include "data/unknown.h"
#include "sources/table/table.h"

namespace ddptrain {
namespace {

/// The cell as it was before its normalization, whose last bits of float32 are left out.
std::string cell_text(float normalized, const ContinuousColumn& column) {
  const double cell = normalized * column.deviation + column.mean;
  const double rounding = 1e-6 * column.deviation;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", std::abs(cell) < rounding ? 0 : cell);
  return text;
}

class TableDataset final : public Dataset, public CountsUnknown {
 public:
  TableDataset(const TableOptions& options, Table table, bool labeled, Node chosen,
               std::string digest)
      : options_(options),
        table_(std::move(table)),
        labeled_(labeled),
        chosen_(std::move(chosen)),
        digest_(std::move(digest)),
        targets_(options.target.names()) {
    facts_.classes = table_.fit.target_classes;
    if (facts_.classes.empty()) facts_.numbers = targets_.count();
    facts_.sample = {static_cast<std::int64_t>(table_.fit.continuous.size())};
    for (const auto& column : table_.fit.categories)
      facts_.cardinalities.push_back(static_cast<std::int64_t>(column.classes.size()));
  }

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override {
    return static_cast<std::int64_t>(of(split).rows.size());
  }

  Batch allocate(Split, std::int64_t rows) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, codes()}, at::kLong),
                    at::empty({rows, numbers()}, at::kFloat)};
    batch.targets = {facts_.classes.empty() ? targets_.allocate(rows)
                                            : at::empty({rows}, at::kLong)};
    batch.indices.resize(static_cast<std::size_t>(rows));
    return batch;
  }

  bool load(Split split, std::int64_t index, const Draw&, Batch& batch,
            std::int64_t row) const override {
    const auto& from = of(split);
    require_sound(from.rows[static_cast<std::size_t>(index)]);
    std::copy_n(from.categories.data() + index * codes(), codes(),
                batch.inputs[0].mutable_data_ptr<std::int64_t>() + row * codes());
    std::copy_n(from.continuous.data() + index * numbers(), numbers(),
                batch.inputs[1].mutable_data_ptr<float>() + row * numbers());
    const auto i = static_cast<std::size_t>(index);
    if (!labeled_) return true;
    if (facts_.classes.empty())
      std::copy_n(from.numbers.data() + index * targets_.count(), targets_.count(),
                  batch.targets[0].mutable_data_ptr<float>() + row * targets_.count());
    else
      batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = from.labels[i];
    return true;
  }

  bool loads_from_memory() const override { return true; }

  /// Rows count from 0 below the header.
  std::string sample_name(Split split, std::int64_t index) const override {
    const auto row = std::to_string(of(split).rows.at(static_cast<std::size_t>(index)));
    return labeled_ ? options_.file + " row " + row : row;
  }
  std::string name_kind() const override { return "row"; }
  std::int64_t label(Split split, std::int64_t index) const override {
    const bool none = facts_.classes.empty() || !labeled_;
    return none ? -1 : of(split).labels.at(static_cast<std::size_t>(index));
  }
  bool has_target(Split split, std::int64_t index) const override {
    if (!labeled_ || !facts_.classes.empty()) return true;
    const auto* first = of(split).numbers.data() + index * targets_.count();
    return std::any_of(first, first + targets_.count(), [](float n) { return !std::isnan(n); });
  }
  std::vector<UnknownValues> unknown(Split split) const override {
    std::vector<UnknownValues> found;
    for (const auto& unseen : table_.unseen)
      if (unseen.split == static_cast<std::size_t>(split))
        found.push_back({unseen.column, "#na#", unseen.rows, size(split), unseen.rows});
    return found;
  }
  Node chosen() const override { return chosen_; }
  std::string state() const override { return to_json(table_.fit, options_); }
  /// The cells as the network gets them, in the table's own words: filled in, numbers not
  /// normalized, "#na#" for what is missing or unknown; the target first.
  Preview preview(Split split, std::int64_t index, const Draw&) const override {
    const auto& from = of(split);
    const auto i = static_cast<std::size_t>(index);
    Preview shown{sample_name(split, index), {}, {}};
    if (!facts_.classes.empty())
      shown.cells.emplace_back("target", facts_.classes.at(std::size_t(from.labels[i])));
    else if (!options_.target.listed())
      shown.cells.emplace_back("target", format_number(from.numbers[i]));
    else
      targets_.show(from.numbers.data() + index * targets_.count(), shown);
    const auto* code = from.categories.data() + index * codes();
    for (const auto& column : table_.fit.categories)
      shown.cells.emplace_back(column.name, column.classes.at(static_cast<std::size_t>(*code++)));
    const auto* number = from.continuous.data() + index * numbers();
    for (const auto& column : table_.fit.continuous)
      shown.cells.emplace_back(column.name, cell_text(*number++, column));
    return shown;
  }
  /// Under the names of the columns, where these are listed.
  const PredictionForm* prediction_form() const override {
    return options_.target.listed() ? &targets_ : nullptr;
  }
  std::string digest() const override { return digest_; }

 private:
  /// Only `predict` has rows that are not.
  void require_sound(std::size_t row) const {
    if (table_.errors.empty()) return;
    const auto error = table_.errors.find(row);
    if (error != table_.errors.end()) throw Error(Exit::data, error->second);
  }
  const TableRows& of(Split split) const { return table_.splits[static_cast<std::size_t>(split)]; }
  std::int64_t codes() const { return static_cast<std::int64_t>(table_.fit.categories.size()); }
  std::int64_t numbers() const { return static_cast<std::int64_t>(table_.fit.continuous.size()); }

  TableOptions options_;
  Table table_;
  bool labeled_;
  Node chosen_;
  std::string digest_;
  NumberColumns targets_;  // their names
  DataFacts facts_;
};

}  // namespace

std::unique_ptr<Dataset> make_table_dataset(TableOptions options, const OpenTable& open,
                                            const DataContext& context, Node chosen) {
  const bool labeled = context.unlabeled.empty();
  if (!labeled) options.file = context.unlabeled;
  const auto source = open(options.file);
  auto table = labeled ? read_table(*source, options, context.fitted, context.classes)
                       : read_unlabeled_table(*source, options, context.fitted);
  // For data of a trained model, the caller that scores them reports what is unknown: both splits
  // were read.
  if (!labeled || context.fitted.empty())
    for (const auto& note : unseen_notes(table)) labeled ? log::info(note) : log::warning(note);
  return std::make_unique<TableDataset>(options, std::move(table), labeled, std::move(chosen),
                                        digest_of(*context.file_system, options.file));
}

}  // namespace ddptrain
