#include "jobs/predict/prediction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/names.h"
#include "base/text.h"

namespace ddptrain {
namespace {

std::string csv_line(const std::vector<std::string>& cells, CsvReader reader) {
  std::vector<std::string> quoted;
  for (const auto& cell : cells) quoted.push_back(csv_cell(cell, reader));
  return join(quoted, ",") + "\n";
}

/// What errors of numbers are of: several targets, or the one.
std::vector<std::string> targets_of(const PredictionTitles& titles) {
  return titles.form.empty() ? std::vector<std::string>{"value"} : titles.form;
}

/// Null where it is none.
Json number_in(const std::string& cell) {
  const auto number = parse_number(cell);
  return number ? Json(*number) : Json();
}

/// Empty where one of them is no number.
std::string difference(const std::string& predicted, const std::string& truth) {
  const auto a = parse_number(predicted), b = parse_number(truth);
  return a && b ? format_number(*a - *b) : std::string();
}

Json named_cells(const std::vector<std::string>& cells, const std::vector<std::string>& names) {
  Json found = Json::object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto number = parse_number(cells[i]);
    found[names.at(i)] = number ? Json(*number) : Json(cells[i]);
  }
  return found;
}

Json ranked(const std::vector<double>& numbers, const std::vector<std::size_t>& order,
            const std::vector<std::string>& classes) {
  Json found = Json::array();
  for (const auto c : order)
    found.push_back({{"label", classes.at(c)}, {"probability", numbers.at(c)}});
  return found;
}

}  // namespace

std::span<const std::string_view> names(PredictionFormat) { return kNameList<"csv", "jsonl">; }

/// The likeliest class; of several labels those that are likelier than not.
std::vector<std::size_t> PredictionText::labels(const std::vector<double>& numbers) const {
  if (!columns_.several_labels)
    return {static_cast<std::size_t>(std::max_element(numbers.begin(), numbers.end()) -
                                     numbers.begin())};
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < numbers.size(); ++c)
    if (numbers[c] > 0.5) found.push_back(c);
  return found;
}

/// `top` classes, the likeliest first; of equal ones the first.
std::vector<std::size_t> PredictionText::likeliest(const std::vector<double>& numbers) const {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = std::min(static_cast<std::size_t>(columns_.top), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b;
                    });
  order.resize(count);
  return order;
}

std::vector<std::string> PredictionText::predicted_titles(const PredictionTitles& titles) const {
  if (!titles.form.empty()) return titles.form;
  if (columns_.classes.empty()) return {"value"};
  std::vector<std::string> all;
  if (columns_.top == 0) {
    all = {"label"};
    all.insert(all.end(), columns_.classes.begin(), columns_.classes.end());
    return all;
  }
  const auto count = std::min(columns_.top, static_cast<std::int64_t>(columns_.classes.size()));
  for (std::int64_t i = 1; i <= count; ++i) {
    const auto place = i == 1 ? "" : fmt::format("_{}", i);
    all.push_back("label" + place);
    all.push_back("probability" + place);
  }
  return all;
}

/// Of numbers also by how much each prediction is larger than the truth.
std::vector<std::string> PredictionText::truth_titles(const PredictionTitles& titles) const {
  if (!columns_.classes.empty()) return {"truth", "loss"};
  const auto targets = targets_of(titles);
  std::vector<std::string> all;
  for (const auto& name : targets) {
    all.push_back(targets.size() == 1 ? "truth" : name + "_truth");
    all.push_back(name + "_error");
  }
  all.emplace_back("loss");
  return all;
}

std::string PredictionText::header(const PredictionTitles& titles) const {
  if (format_ != PredictionFormat::csv) return {};
  std::vector<std::string> cells;
  if (columns_.file) cells.emplace_back("file");
  cells.push_back(titles.name);
  const auto predicted = predicted_titles(titles);
  cells.insert(cells.end(), predicted.begin(), predicted.end());
  if (columns_.truth)
    for (const auto& title : truth_titles(titles)) cells.push_back(title);
  if (columns_.error) cells.emplace_back("error");
  return csv_line(cells, columns_.reader);
}

std::vector<std::string> PredictionText::predicted_cells(const PredictionRow& row) const {
  if (!row.cells.empty()) return row.cells;
  std::vector<std::string> cells;
  if (columns_.top > 0 && !columns_.classes.empty()) {
    for (const auto c : likeliest(row.numbers)) {
      cells.push_back(columns_.classes.at(c));
      cells.push_back(format_number(row.numbers[c]));
    }
    return cells;
  }
  if (!columns_.classes.empty()) {
    std::vector<std::string> found;
    for (const auto c : labels(row.numbers)) found.push_back(columns_.classes.at(c));
    cells.push_back(join(found, columns_.delimiter));
  }
  for (const auto number : row.numbers) cells.push_back(format_number(number));
  return cells;
}

std::vector<std::string> PredictionText::truth_cells(const PredictionRow& row,
                                                     const PredictionTitles& titles) const {
  const auto predicted = row.error.empty() ? predicted_cells(row) : std::vector<std::string>{};
  const auto loss = row.loss ? format_number(*row.loss) : std::string();
  std::vector<std::string> cells;
  if (!columns_.classes.empty()) return {row.truth.empty() ? "" : row.truth.front(), loss};
  for (std::size_t i = 0; i < targets_of(titles).size(); ++i) {
    const auto truth = i < row.truth.size() ? row.truth[i] : "";
    cells.push_back(truth);
    cells.push_back(difference(i < predicted.size() ? predicted[i] : "", truth));
  }
  cells.push_back(loss);
  return cells;
}

std::string PredictionText::csv(const PredictionRow& row, const PredictionTitles& titles) const {
  std::vector<std::string> cells;
  if (columns_.file) cells.push_back(row.file);
  cells.push_back(row.name);
  auto predicted = row.error.empty() ? predicted_cells(row) : std::vector<std::string>{};
  if (!row.error.empty()) predicted.resize(predicted_titles(titles).size());
  cells.insert(cells.end(), predicted.begin(), predicted.end());
  if (columns_.truth)
    for (const auto& cell : truth_cells(row, titles)) cells.push_back(cell);
  if (columns_.error) cells.push_back(row.error);
  return csv_line(cells, columns_.reader);
}

void PredictionText::add_labels(Json& line, const std::vector<double>& numbers) const {
  Json names = Json::array(), probabilities = Json::object();
  for (const auto c : labels(numbers)) names.push_back(columns_.classes.at(c));
  for (std::size_t c = 0; c < numbers.size(); ++c)
    probabilities[columns_.classes.at(c)] = numbers[c];
  line["label"] = columns_.several_labels ? names : names.front();
  line["probabilities"] = probabilities;
}

void PredictionText::add_truth(Json& line, const PredictionRow& row,
                               const PredictionTitles& titles) const {
  const auto cells = truth_cells(row, titles);
  const auto targets = targets_of(titles);
  if (!columns_.classes.empty() || targets.size() == 1) {
    line["truth"] = cells[0].empty() ? Json() : Json(cells[0]);
    if (columns_.classes.empty()) line[targets[0] + "_error"] = number_in(cells[1]);
  } else {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      line["truth"][targets[i]] = number_in(cells[2 * i]);
      line["errors"][targets[i]] = number_in(cells[2 * i + 1]);
    }
  }
  line["loss"] = row.loss ? Json(*row.loss) : Json();
}

std::string PredictionText::json(const PredictionRow& row, const PredictionTitles& titles) const {
  Json line;
  if (columns_.file) line["file"] = row.file;
  line[titles.name] = row.name;
  if (!row.error.empty())
    line["error"] = row.error;
  else if (!row.cells.empty())
    line["prediction"] = named_cells(row.cells, titles.form);
  else if (columns_.classes.empty())
    line["value"] = row.numbers.size() == 1 ? Json(row.numbers.front()) : Json(row.numbers);
  else if (columns_.top > 0)
    line["top"] = ranked(row.numbers, likeliest(row.numbers), columns_.classes);
  else
    add_labels(line, row.numbers);
  if (columns_.truth) add_truth(line, row, titles);
  return lossy_json_text(line) + "\n";
}

std::string PredictionText::line(const PredictionRow& row, const PredictionTitles& titles) const {
  return format_ == PredictionFormat::csv ? csv(row, titles) : json(row, titles);
}

}  // namespace ddptrain
