#include "sources/table/table_options.h"

#include "base/names.h"
#include "sources/csv/csv_columns.h"

namespace ddptrain {

std::span<const std::string_view> names(Fill) { return kNameList<"median", "constant", "mode">; }
std::span<const std::string_view> names(TableTask) {
  return kNameList<"auto", "classification", "regression">;
}
std::span<const std::string_view> names(Unseen) { return kNameList<"missing", "class", "error">; }

void TargetColumns::fields(Fields& f) {
  f("column", column, {.doc = "The one column, of classes or of numbers."});
  f("columns", columns,
    {.doc = "Columns of numbers; a missing one is NaN and counts in no loss.",
     .items = ItemOrder::distinct});
  f.require(exactly_one({"column", "columns"}));
}

void DateColumn::fields(Fields& f) {
  f("column", column, {.doc = "The column.", .required = true, .example = "sold"});
  f("format", format,
    {.doc = "How a date is written, in strptime's directives; auto: 2024-03-31, or with a time "
            "behind it.",
     .example = "\"%d.%m.%Y\"",
     .min_items = 1});
  f("time", time, {.doc = "Hour, minute and second as well."});
}

std::vector<std::string> TargetColumns::names() const {
  return column ? std::vector<std::string>{*column} : columns;
}

void TableOptions::fields(Fields& f) {
  f("file", file,
    {.doc = "File of the table; its header or schema names the columns.",
     .required = true,
     .path = true,
     .address = AddressUse::file,
     .example = "data/adult.csv"});
  f("target", target,
    {.doc = "The column to predict; a list: columns of numbers, all of which are predicted.",
     .required = true,
     .example = "class"});
  f("task", task,
    {.doc = "auto: regression where every target is a number, otherwise classification."});
  f("categories", categories,
    {.doc = "Columns of names; auto: all others that are not all numbers."});
  f("continuous", continuous, {.doc = "Columns of numbers; auto: all others that are."});
  f("dates", dates,
    {.doc = "Columns of dates, of each of which fastai's add_datepart makes columns: Year, Month, "
            "Week, Day, Dayofweek, Dayofyear, Is_month_end, ..., Elapsed. Those that are the same "
            "in all training rows are left out.",
     .example = "[{column: sold, format: \"%d.%m.%Y\"}]"});
  f("drop", drop, {.doc = "Columns that 'auto' leaves out."});
  missing_field(f, missing);
  f("unseen", unseen,
    {.doc = "What a name becomes that only held-out rows have: like a missing one, a class of its "
            "own (as fastai does), or an error. To a trained model it is missing or an error."});
  f("fill", fill,
    {.doc = "What a missing number becomes: the median or the commonest of the training rows, or "
            "fill_value."});
  f("fill_value", fill_value, {.doc = "The number of 'fill: constant'."});
  f("add_na", add_na,
    {.doc = "Add a category NAME_na that tells which numbers of column NAME were missing."});
  f("normalize", normalize, {.doc = "Take off the mean and divide by the deviation."});
  f("valid", valid, {.doc = "Which rows are held out."});
  f.require(needs("target.columns", is_not("task", "classification")));
}

void missing_field(Fields& f, Auto<std::vector<std::string>>& missing) {
  f("missing", missing,
    {.doc = "Cells that stand for a missing value, as text; auto: in CSV empty ones, NA, N/A, NaN, "
            "null, "
            "None and the others that pandas.read_csv takes for one, in Parquet only nulls."});
}

const std::vector<std::string>& TableOptions::missing_spellings() const {
  return missing.value ? *missing.value : pandas_missing();
}

}  // namespace ddptrain
