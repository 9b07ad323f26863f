#include "sources/table/table_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "sources/table/date_columns.h"

namespace ddptrain {
namespace {

/// Each as it is, as numbers where all are, otherwise bytewise.
std::vector<std::string> sorted_classes(std::vector<std::string> classes) {
  std::sort(classes.begin(), classes.end());
  const auto is_number = [](const auto& name) { return parse_number(name).has_value(); };
  if (std::all_of(classes.begin(), classes.end(), is_number))
    std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
      return *parse_number(a) < *parse_number(b);
    });
  return classes;
}

/// Names that these rows have.
std::vector<std::string> classes_in(const ColumnCells& cells, const RowSplits& splits,
                                    std::size_t count) {
  std::vector<bool> met(cells.names.size());
  for (std::size_t split = 0; split < count; ++split)
    for (const auto row : splits[split])
      if (cells.codes[row] >= 0) met[static_cast<std::size_t>(cells.codes[row])] = true;
  std::vector<std::string> classes;
  for (std::size_t code = 0; code < met.size(); ++code)
    if (met[code]) classes.emplace_back(cells.names[code]);
  return sorted_classes(std::move(classes));
}

double median(std::vector<double> values) {
  const auto half = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

/// The commonest value, of equally common ones the first met.
double mode(const std::vector<double>& values) {
  std::map<double, std::size_t> counts;
  std::size_t most = 0;
  for (const double value : values) most = std::max(most, ++counts[value]);
  return *std::find_if(values.begin(), values.end(),
                       [&](double value) { return counts[value] == most; });
}

double fill_of(const std::vector<double>& known, const std::string& name,
               const TableOptions& options) {
  if (options.fill == Fill::constant) return options.fill_value;
  if (known.empty())
    throw Error(Exit::data, "{}: column '{}' has no number in any training row; leave it out",
                options.file, name);
  return options.fill == Fill::median ? median(known) : mode(known);
}

void fit_normal(ContinuousColumn& column, const std::vector<double>& known, std::size_t rows) {
  const auto n = static_cast<double>(rows);
  const double filled = n - static_cast<double>(known.size());
  const double fill = column.fill.value_or(0);
  double sum = filled * fill;
  for (const double value : known) sum += value;
  column.mean = sum / n;
  double squares = filled * (fill - column.mean) * (fill - column.mean);
  for (const double value : known) squares += (value - column.mean) * (value - column.mean);
  column.deviation = std::sqrt(squares / n) + 1e-7;
}

ContinuousColumn fit_continuous(const TableColumn& column, const std::vector<std::size_t>& rows,
                                const TableOptions& options) {
  std::vector<double> known;
  known.reserve(rows.size());
  for (const auto row : rows)
    if (const double value = column.cells.numbers[row]; !std::isnan(value)) known.push_back(value);
  ContinuousColumn fit{column.name, {}};
  if (known.size() < rows.size()) fit.fill = fill_of(known, column.name, options);
  if (options.normalize) fit_normal(fit, known, rows.size());
  return fit;
}

void require_any_number(const TableColumn& target, const std::vector<std::size_t>& rows,
                        const TableOptions& options) {
  const bool any = std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
    return !std::isnan(target.cells.numbers[row]);
  });
  if (any) return;
  throw Error(Exit::data,
              "{}: column '{}' has no number in any training row; take it out of data.target",
              options.file, target.name);
}

/// Options that the numbers of a fit depend on.
Json fitted_with(const TableOptions& options) {
  const auto word = [](auto value) { return names(value)[static_cast<std::size_t>(value)]; };
  const auto& target = options.target;
  Json fitted{{"target", target.column ? Json(*target.column) : Json(target.columns)},
              {"fill", word(options.fill)},
              {"fill_value", options.fill_value},
              {"add_na", options.add_na},
              {"normalize", options.normalize},
              {"missing", options.missing_spellings()}};
  // Files of before this option have no word of it.
  for (const auto& date : options.dates)
    fitted["dates"].push_back({date.column, date.format.value.value_or(""), date.time});
  return fitted;
}

void check_options(const Json& then, const Json& now) {
  for (const auto* options : {&now, &then})
    for (const auto& [key, unused] : options->items()) {
      const auto new_value = now.value(key, Json("none")), old = then.value(key, Json("none"));
      if (new_value != old)
        throw Error(Exit::recipe, Option{"data." + key}, "{}, but the model was trained with {}",
                    json_text(new_value), json_text(old));
    }
}

/// Columns that the recipe names must be the fitted ones.
template <class Column>
void check_columns(const Auto<std::vector<std::string>>& asked, const std::vector<Column>& fitted,
                   const TableOptions& options, const std::string& option) {
  if (asked.automatic()) return;
  std::vector<std::string> names;
  for (const auto& column : fitted) {
    if (is_date_part(options, column.name)) continue;
    if constexpr (requires { column.missing_of; }) {
      if (!column.missing_of) names.push_back(column.name);
    } else {
      names.push_back(column.name);
    }
  }
  if (names != *asked.value)
    throw Error(Exit::recipe, Option{"data." + option}, "the model was trained on '{}'",
                join(names, "', '"));
}

/// Checkpoints of before a header's cell could be empty have "" where there is no such column.
std::optional<std::string> missing_of(const Json& column) {
  const auto& of = column.at("missing_of");
  if (of.is_null() || (of == "" && column.at("name") != "_na")) return {};
  return of.get<std::string>();
}

std::vector<CategoryColumn> categories_in(const Json& json) {
  std::vector<CategoryColumn> columns;
  for (const auto& column : json.at("categories"))
    columns.push_back({column.at("name"), column.at("classes"), missing_of(column)});
  return columns;
}

}  // namespace

std::vector<CategoryColumn> fitted_categories(const std::string& text) {
  return categories_in(parse_json(text));
}

TableFit fit_table(const TableCells& cells, const RowSplits& splits, const TableOptions& options) {
  TableFit fit;
  const std::vector<std::string> unknown{"#na#"};
  for (const auto& column : cells.categories) {
    auto classes = classes_in(column.cells, splits, options.unseen == Unseen::own_class ? 2 : 1);
    classes.insert(classes.begin(), unknown[0]);
    fit.categories.push_back({column.name, std::move(classes), {}});
  }
  for (const auto& column : cells.continuous) {
    fit.continuous.push_back(fit_continuous(column, splits[0], options));
    // One column marks missing dates: the parts of a date are missing together.
    const bool marks_missing = !column.date_part || column.name.ends_with("Elapsed");
    if (fit.continuous.back().fill && options.add_na && marks_missing)
      fit.categories.push_back({column.name + "_na", {unknown[0], "False", "True"}, column.name});
  }
  for (const auto& target : cells.targets)
    if (target.cells.kind == ColumnKind::names)
      fit.target_classes = classes_in(target.cells, splits, 1);
    else
      require_any_number(target, splits[0], options);
  return fit;
}

std::string to_json(const TableFit& fit, const TableOptions& options) {
  Json categories = Json::array(), continuous = Json::array();
  for (const auto& column : fit.categories)
    categories.push_back({{"name", column.name},
                          {"missing_of", column.missing_of ? Json(*column.missing_of) : Json()},
                          {"classes", column.classes}});
  for (const auto& column : fit.continuous)
    continuous.push_back({{"name", column.name},
                          {"fill", column.fill ? Json(*column.fill) : Json()},
                          {"mean", column.mean},
                          {"deviation", column.deviation}});
  return json_text(Json{{"options", fitted_with(options)},
                        {"categories", categories},
                        {"continuous", continuous},
                        {"target_classes", fit.target_classes}});
}

TableFit fit_from_json(const std::string& text, const TableOptions& options) {
  const auto json = parse_json(text);
  check_options(json.at("options"), fitted_with(options));
  TableFit fit;
  fit.categories = categories_in(json);
  for (const auto& column : json.at("continuous")) {
    auto& made = fit.continuous.emplace_back();
    made.name = column.at("name");
    if (!column.at("fill").is_null()) made.fill = column.at("fill").get<double>();
    made.mean = column.at("mean");
    made.deviation = column.at("deviation");
  }
  fit.target_classes = json.at("target_classes").get<std::vector<std::string>>();
  check_columns(options.categories, fit.categories, options, "categories");
  check_columns(options.continuous, fit.continuous, options, "continuous");
  return fit;
}

}  // namespace ddptrain
