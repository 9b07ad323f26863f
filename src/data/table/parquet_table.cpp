// data parquet_table: rows of a Parquet file, text as codes and numbers as they are.
#include "data/dataset.h"
#include "data/table/table_dataset.h"
#include "recipe/data_section.h"
#include "sources/table/parquet_source.h"

namespace ddptrain {
namespace {

struct ParquetTableOptions {
  TableOptions table;
  DataSection section;
  void fields(Fields& f) {
    table.fields(f);
    section.fields(f);
  }
};

}  // namespace

Entry<Dataset> parquet_table_dataset() {
  return entry<Dataset, ParquetTableOptions>(
      "parquet_table",
      "Rows of a Parquet file: text as categories, numbers filled in and normalized.",
      [](const ParquetTableOptions& options, const DataContext& context) {
        auto table = options.table;
        // A null is what is missing; words are not.
        if (table.missing.automatic()) table.missing.value.emplace();
        return make_table_dataset(
            table,
            [&](const std::string& path) {
              return std::make_unique<ParquetSource>(path, *context.file_system);
            },
            context);
      },
      {"unlabeled", "gives_tables", "task_by task", "numbers_by target", "label_column target"});
}

}  // namespace ddptrain
