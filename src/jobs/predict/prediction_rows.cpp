#include "jobs/predict/prediction_rows.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "base/secrets.h"
#include "base/text.h"
#include "data/prediction_form.h"
#include "recipe/targets.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

std::vector<std::string> cut_at(const std::string& text, const std::string& delimiter) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(delimiter, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + std::max<std::size_t>(1, delimiter.size());
  }
  return parts;
}

/// Of an input that is one file or folder, which messages quote.
std::string file_of(const PredictionInput& input) {
  return input.name.substr(1, input.name.size() - 2);
}

}  // namespace

PredictionColumns columns_of(const Recipe& recipe, const Loss& loss,
                             std::vector<std::string> classes) {
  PredictionColumns columns;
  columns.classes = std::move(classes);
  columns.several_labels = loss.activation().kind == OutputActivation::Kind::sigmoid;
  columns.delimiter = label_delimiter(recipe, all_catalogs()).value_or(columns.delimiter);
  return columns;
}

PredictionTitles titles_of(const Dataset& data) {
  const auto* form = data.prediction_form();
  return {data.name_kind(), form ? form->columns() : std::vector<std::string>{}};
}

PredictionRows::PredictionRows(const Loss& loss, PredictionText text)
    : loss_(loss), activation_(loss.activation()), text_(std::move(text)) {
  const auto& columns = text_.columns();
  if (columns.classes.empty())
    activation_ = {};
  else if (!columns.several_labels)
    activation_ = {OutputActivation::Kind::softmax};
}

/// Of predictions [rows, ...].
void PredictionRows::predict(PredictionRow& row, const PredictedData& from, const Batch& batch,
                             const at::Tensor& found, std::int64_t at) const {
  const auto own = found[at];
  const auto* form = from.data.prediction_form();
  if (!form) {
    const auto numbers = own.reshape({-1}).contiguous();
    const auto* first = numbers.const_data_ptr<double>();
    row.numbers.assign(first, first + numbers.numel());
    return;
  }
  const auto i = static_cast<std::size_t>(at);
  PredictedSample sample;
  sample.folder = from.folder;
  if (!batch.places.empty()) sample.place = batch.places.at(i);
  if (!from.files.empty())
    sample.name = from.files.at(static_cast<std::size_t>(batch.indices.at(i)));
  row.cells = form->cells(own, sample);
}

std::string PredictionRows::rows(const PredictionInput& input, const PredictedData& from,
                                 const Batch& batch, const at::Tensor& output,
                                 std::vector<std::string>& errors) const {
  const auto& data = from.data;
  const auto found = predictions(output, activation_);
  const auto titles = titles_of(data);
  std::vector<Truth> truths;
  for (const auto index : batch.indices)
    truths.push_back(input.truth ? input.truth(data.sample_name(Split::valid, index), index)
                                 : Truth{});
  std::vector<std::optional<double>> loss(truths.size());
  if (text_.columns().truth) loss = losses(output, truths);
  std::string text;
  for (std::size_t at = 0; at < static_cast<std::size_t>(batch.rows); ++at) {
    const auto index = batch.indices.at(at);
    PredictionRow row;
    row.file = file_of(input);
    row.name = input.sample.empty() ? data.sample_name(Split::valid, index) : input.sample;
    row.truth = truths[at];
    if (const auto error = data.take_error(index); !error.empty()) {
      row.error = without_secrets(error);
      errors.push_back(error);
    } else {
      row.loss = loss[at];
      predict(row, from, batch, found, static_cast<std::int64_t>(at));
    }
    text += text_.line(row, titles);
  }
  return text;
}

std::string PredictionRows::unreadable(const PredictionInput& input,
                                       const std::string& error) const {
  const auto name = file_of(input);
  PredictionRow row;
  row.file = name;
  row.name = input.sample.empty() ? name : input.sample;
  if (input.truth) row.truth = input.truth(name, 0);
  row.error = without_secrets(error);
  return text_.line(row, {});
}

std::vector<std::int64_t> PredictionRows::labels_in(const Truth& truth) const {
  std::vector<std::int64_t> labels;
  if (truth.empty()) return labels;
  const auto names =
      text_.columns().several_labels ? cut_at(truth.front(), text_.columns().delimiter) : truth;
  for (const auto& name : names) {
    const auto found =
        std::find(text_.columns().classes.begin(), text_.columns().classes.end(), name);
    if (found == text_.columns().classes.end()) return {};
    labels.push_back(found - text_.columns().classes.begin());
  }
  return labels;
}

bool PredictionRows::is_known(const Truth& truth) const {
  if (!text_.columns().classes.empty()) return !labels_in(truth).empty();
  return std::any_of(truth.begin(), truth.end(),
                     [](const auto& cell) { return parse_number(cell).has_value(); });
}

/// As batches have them: [rows], or of several targets [rows, targets]; NaN: missing.
at::Tensor PredictionRows::numbers(const std::vector<Truth>& truths,
                                   const std::vector<std::int64_t>& rows) const {
  const auto count = truths[static_cast<std::size_t>(rows.front())].size();
  std::vector<float> values;
  for (const auto row : rows)
    for (const auto& cell : truths[static_cast<std::size_t>(row)])
      values.push_back(static_cast<float>(
          parse_number(cell).value_or(std::numeric_limits<double>::quiet_NaN())));
  const auto all = at::tensor(values);
  return count == 1 ? all : all.view({std::ssize(rows), static_cast<std::int64_t>(count)});
}

at::Tensor PredictionRows::targets(const std::vector<Truth>& truths,
                                   const std::vector<std::int64_t>& rows) const {
  if (text_.columns().classes.empty()) return numbers(truths, rows);
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto labels = [&](std::int64_t i) {
    return labels_in(truths[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
  };
  if (text_.columns().several_labels) {
    auto flags =
        at::zeros({count, static_cast<std::int64_t>(text_.columns().classes.size())}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i)
      for (const auto label : labels(i)) flags[i][label] = 1;
    return flags;
  }
  auto target = at::zeros({count}, at::kLong);
  for (std::int64_t i = 0; i < count; ++i) target[i] = labels(i).front();
  return target;
}

/// Each row's own mean loss; none where its truth is unknown.
std::vector<std::optional<double>> PredictionRows::losses(const at::Tensor& output,
                                                          const std::vector<Truth>& truths) const {
  std::vector<std::optional<double>> all(truths.size());
  std::vector<std::int64_t> known;
  for (std::size_t row = 0; row < truths.size(); ++row)
    if (is_known(truths[row])) known.push_back(static_cast<std::int64_t>(row));
  if (known.empty()) return all;
  const auto terms = loss_(output.index_select(0, at::tensor(known)), targets(truths, known));
  const auto count = static_cast<std::int64_t>(known.size());
  if (terms.values.numel() % count != 0) return all;
  const auto sums = terms.values.reshape({count, -1}).to(at::kDouble).sum(1).contiguous();
  const auto weights = terms.weights.reshape({count, -1}).to(at::kDouble).sum(1).contiguous();
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double weight = weights.const_data_ptr<double>()[i];
    if (weight > 0)
      all[static_cast<std::size_t>(known[i])] = sums.const_data_ptr<double>()[i] / weight;
  }
  return all;
}

}  // namespace ddptrain
