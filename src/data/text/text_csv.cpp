// data text_csv: texts in columns of a CSV file.
#include <fmt/format.h>

#include "base/error.h"
#include "config/encode.h"
#include "data/dataset.h"
#include "data/text/language_data.h"
#include "data/text/text_dataset.h"
#include "sources/csv/csv.h"
#include "sources/text/text_records.h"

namespace ddptrain {
namespace {

struct TextCsvOptions {
  TextRecordOptions records;
  TextOptions texts;
  CsvFormat csv;
  void fields(Fields& f) {
    records.fields(f);
    csv_field(f, csv);
    texts.fields(f);
  }
};

/// A number as JSON lines have it, so that the label of a regression is read alike.
std::string number_or_cell(const Csv& csv, std::size_t row, std::size_t column) {
  const auto cell = csv.at(row, column);
  return plain_number(cell, csv.format()).value_or(cell);
}

std::vector<TextRecord> read_csv(const std::string& file, const TextRecordOptions& options,
                                 Labels labels, const Csv& csv) {
  const bool is_number = options.task == TextTask::regression && !csv.format().plain_numbers();
  std::vector<std::size_t> columns;
  for (const auto& name : options.text) columns.push_back(csv.required_column(name));
  const bool labeled = labels == Labels::known;
  const bool has_label = labeled && options.task != TextTask::language_model;
  const auto label = has_label ? csv.required_column(options.label) : 0;
  const bool by_column = labeled && options.valid.column && !options.valid_file;
  const auto split = by_column ? csv.required_column(*options.valid.column) : 0;
  const auto* groups = labeled ? options.groups() : nullptr;
  const auto group = groups ? csv.required_column(*groups) : 0;
  std::vector<TextRecord> records(csv.rows());
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    auto& record = records[row];
    for (const auto column : columns) record.texts.push_back(csv.at(row, column));
    record.place = fmt::format("{} row {}", file, row);
    if (by_column) record.split = csv.at(row, split);
    if (groups) record.group = csv.at(row, group);
    if (!has_label) continue;
    record.label = is_number ? number_or_cell(csv, row, label) : csv.at(row, label);
    if (record.label.empty() && options.task == TextTask::classification)
      csv.fail(row, label, "empty; a text needs a class");
  }
  return records;
}

}  // namespace

Entry<Dataset> text_csv_dataset() {
  return entry<Dataset, TextCsvOptions>(
      "text_csv", "Texts in columns of a CSV file.",
      [](const TextCsvOptions& options, const DataContext& context) {
        const auto& files = *context.file_system;
        const ReadRecords read = [csv = options.csv, &files](const auto& file, const auto& records,
                                                             Labels labels) {
          return read_csv(file, records, labels, Csv(file, csv, files));
        };
        auto source = context.unlabeled.empty()
                          ? record_source(files, options.records, read)
                          : unlabeled_records(files, options.records, context.unlabeled, read);
        auto csv = options.csv;
        source.key += "\n" + to_flow(encode(csv));
        const auto make = options.records.task == TextTask::language_model ? make_language_data
                                                                           : make_text_dataset;
        return make(source, options.texts, InvalidUtf8::error, context);
      },
      {"unlabeled", "gives_texts", "gives_class", "task_by task", "label_column label"});
}

}  // namespace ddptrain
