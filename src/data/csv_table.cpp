// data csv_table: rows of a CSV file, names as codes and numbers as they are.
#include <algorithm>

#include <ATen/ops/empty.h>

#include "base/digest.h"
#include "data/datasets.h"
#include "data/table.h"
#include "recipe/data_section.h"

namespace ddptrain {
namespace {

struct CsvTableOptions {
  TableOptions table;
  DataSection section;
  void fields(Fields& f) {
    table.fields(f);
    section.fields(f);
  }
};

/// Inputs are codes [rows, category columns] and numbers [rows, continuous columns]; either may
/// have no columns.
class CsvTable final : public Dataset {
 public:
  explicit CsvTable(const TableOptions& options)
      : file_(options.file),
        table_(read_table(options)),
        digest_(digest_file(DigestKind::sha256, file_)) {
    facts_.classes = table_.fit.target_classes;
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
    batch.targets = {at::empty({rows}, facts_.classes.empty() ? at::kFloat : at::kLong)};
    batch.indices.resize(static_cast<std::size_t>(rows));
    return batch;
  }

  bool load(Split split, std::int64_t index, const Draw&, Batch& batch,
            std::int64_t row) const override {
    const auto& from = of(split);
    std::copy_n(from.categories.data() + index * codes(), codes(),
                batch.inputs[0].mutable_data_ptr<std::int64_t>() + row * codes());
    std::copy_n(from.continuous.data() + index * numbers(), numbers(),
                batch.inputs[1].mutable_data_ptr<float>() + row * numbers());
    const auto i = static_cast<std::size_t>(index);
    if (facts_.classes.empty())
      batch.targets[0].mutable_data_ptr<float>()[row] = from.numbers[i];
    else
      batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = from.labels[i];
    return true;
  }

  /// Rows count from 0 below the header.
  std::string sample_name(Split split, std::int64_t index) const override {
    return file_ + " row " + std::to_string(of(split).rows.at(static_cast<std::size_t>(index)));
  }
  std::int64_t label(Split split, std::int64_t index) const override {
    return facts_.classes.empty() ? -1 : of(split).labels.at(static_cast<std::size_t>(index));
  }
  std::string digest() const override { return digest_; }

 private:
  const TableRows& of(Split split) const { return table_.splits[static_cast<std::size_t>(split)]; }
  std::int64_t codes() const { return static_cast<std::int64_t>(table_.fit.categories.size()); }
  std::int64_t numbers() const { return static_cast<std::int64_t>(table_.fit.continuous.size()); }

  std::string file_;
  Table table_;
  std::string digest_;
  DataFacts facts_;
};

}  // namespace

Entry<Dataset> csv_table_dataset() {
  return entry<Dataset, CsvTableOptions>(
      "csv_table", "Rows of a CSV file: names as categories, numbers filled in and normalised.",
      [](const CsvTableOptions& options, const DataContext&) -> std::unique_ptr<Dataset> {
        return std::make_unique<CsvTable>(options.table);
      });
}

}  // namespace ddptrain
