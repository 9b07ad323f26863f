// data csv_table: rows of a CSV file, names as codes and numbers as they are.
#include "data/dataset.h"
#include "data/table/table_dataset.h"
#include "recipe/data_section.h"
#include "sources/table/csv_source.h"

namespace ddptrain {
namespace {

struct CsvTableOptions {
  TableOptions table;
  CsvFormat csv;
  DataSection section;
  void fields(Fields& f) {
    table.fields(f);
    csv_field(f, csv);
    section.fields(f);
  }
};

}  // namespace

Entry<Dataset> csv_table_dataset() {
  return entry<Dataset, CsvTableOptions>(
      "csv_table", "Rows of a CSV file: names as categories, numbers filled in and normalized.",
      [](const CsvTableOptions& options, const DataContext& context) {
        return make_table_dataset(
            options.table,
            [&](const std::string& path) {
              return std::make_unique<CsvSource>(path, options.csv, *context.file_system);
            },
            context);
      },
      {"unlabeled", "gives_tables", "task_by task", "numbers_by target", "label_column target"});
}

}  // namespace ddptrain
