// data text_csv: texts in columns of a CSV file.
#include "base/error.h"
#include "data/csv/csv.h"
#include "data/dataset.h"
#include "data/text/text_dataset.h"
#include "data/text/text_records.h"

namespace ddptrain {
namespace {

struct TextCsvOptions {
  TextRecordOptions records;
  TextOptions texts;
  void fields(Fields& f) {
    records.fields(f);
    texts.fields(f);
  }
};

std::vector<TextRecord> read_csv(const std::string& file, const TextRecordOptions& options,
                                 Labels labels) {
  const Csv csv(file);
  std::vector<std::size_t> columns;
  for (const auto& name : options.text) columns.push_back(csv.required_column(name));
  const bool labelled = labels == Labels::known;
  const auto label = labelled ? csv.required_column(options.label) : 0;
  const bool by_column = labelled && options.valid.column && !options.valid_file;
  const auto split = by_column ? csv.required_column(*options.valid.column) : 0;
  const auto* groups = labelled ? options.groups() : nullptr;
  const auto group = groups ? csv.required_column(*groups) : 0;
  std::vector<TextRecord> records(csv.rows());
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    auto& record = records[row];
    for (const auto column : columns) record.texts.push_back(csv.at(row, column));
    record.place = file + " row " + std::to_string(row);
    if (by_column) record.split = csv.at(row, split);
    if (groups) record.group = csv.at(row, group);
    if (!labelled) continue;
    record.label = csv.at(row, label);
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
        const auto source = context.unlabelled.empty()
                                ? record_source(options.records, read_csv)
                                : unlabelled_records(options.records, context.unlabelled, read_csv);
        return make_text_dataset(source, options.texts, InvalidUtf8::error, context);
      },
      {"unlabelled", "gives_texts", "gives_class", "task_by task", "label_column label"});
}

}  // namespace ddptrain
