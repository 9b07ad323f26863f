#include "jobs/predict/prediction_rows.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/quoting.h"
#include "base/secrets.h"
#include "base/text.h"
#include "losses/loss.h"
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

OutputMeaning meaning_of(const Recipe& recipe, const Loss& loss, std::vector<std::string> classes) {
  OutputMeaning meaning{std::move(classes), loss.activation()};
  if (!meaning.numbers() && !meaning.several())
    meaning.activation = {OutputActivation::Kind::softmax};
  if (meaning.numbers()) meaning.activation = {};
  meaning.delimiter = label_delimiter(recipe, all_catalogs()).value_or(meaning.delimiter);
  return meaning;
}

std::string PredictionRows::header(const std::string& name_kind, const PredictionForm* form) const {
  std::string line = columns_.file ? "file," : "";
  line += name_kind;
  if (!form) line += meaning_.numbers() ? ",value" : ",label";
  for (const auto& each : form ? form->columns() : meaning_.classes) line += "," + csv_cell(each);
  if (columns_.truth) line += ",truth,loss";
  if (columns_.error) line += ",error";
  return line + "\n";
}

/// The likeliest class; of several labels those that are likelier than not.
std::string PredictionRows::label(const double* output, std::size_t width) const {
  if (!meaning_.several())
    return meaning_.classes.at(
        static_cast<std::size_t>(std::max_element(output, output + width) - output));
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < width; ++c)
    if (output[c] > 0.5) labels.push_back(meaning_.classes.at(c));
  return join(labels, meaning_.delimiter);
}

/// Label and probabilities, or the value.
std::string PredictionRows::prediction(const double* output, std::size_t width) const {
  std::string text;
  if (!meaning_.numbers()) text += "," + csv_cell(label(output, width));
  for (std::size_t i = 0; i < width; ++i) text += "," + format_number(output[i]);
  return text;
}

/// Cells of one row of predictions [rows, ...].
std::string PredictionRows::prediction(const PredictedData& from, const Batch& batch,
                                       const at::Tensor& output, std::int64_t row) const {
  const auto own = output[row];
  const auto* form = from.data.prediction_form();
  if (!form) {
    const auto numbers = own.reshape({-1}).contiguous();
    return prediction(numbers.const_data_ptr<double>(), std::size_t(numbers.numel()));
  }
  const auto at = static_cast<std::size_t>(row);
  PredictedSample sample;
  sample.folder = from.folder;
  if (!batch.places.empty()) sample.place = batch.places.at(at);
  if (!from.files.empty())
    sample.name = from.files.at(static_cast<std::size_t>(batch.indices.at(at)));
  std::string text;
  for (const auto& cell : form->cells(own, sample)) text += "," + csv_cell(cell);
  return text;
}

std::size_t PredictionRows::cell_count(const PredictionForm* form, std::size_t width) const {
  if (form) return form->columns().size();
  return width + (meaning_.numbers() ? 0 : 1);
}

std::string PredictionRows::rows(const PredictionInput& input, const PredictedData& from,
                                 const Batch& batch, const at::Tensor& output,
                                 std::vector<std::string>& errors) const {
  const auto& data = from.data;
  const auto found = predictions(output, meaning_.activation);
  const auto width =
      static_cast<std::size_t>(found.numel() / std::max<std::int64_t>(1, batch.rows));
  std::vector<std::string> truths;
  for (const auto index : batch.indices)
    truths.push_back(input.truth ? input.truth(data.sample_name(Split::valid, index), index) : "");
  const auto loss = columns_.truth ? losses(output, truths) : truths;
  std::string text;
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    const auto name = data.sample_name(Split::valid, batch.indices.at(row));
    const auto error = data.take_error(batch.indices.at(row));
    if (columns_.file) text += csv_cell(file_of(input)) + ",";
    text += csv_cell(input.sample.empty() ? name : input.sample);
    text += error.empty() ? prediction(from, batch, found, static_cast<std::int64_t>(row))
                          : std::string(cell_count(data.prediction_form(), width), ',');
    if (columns_.truth)
      text += "," + csv_cell(truths[row]) + "," + (error.empty() ? loss[row] : "");
    if (columns_.error) text += "," + csv_cell(without_secrets(error));
    text += "\n";
    if (!error.empty()) errors.push_back(error);
  }
  return text;
}

std::string PredictionRows::unreadable(const PredictionInput& input,
                                       const std::string& error) const {
  const auto cells = meaning_.numbers() ? 1 : 1 + meaning_.classes.size();
  const auto name = file_of(input);
  std::string text = columns_.file ? csv_cell(name) + "," : "";
  text += csv_cell(input.sample.empty() ? name : input.sample) + std::string(cells, ',');
  if (columns_.truth) text += "," + csv_cell(input.truth ? input.truth(name, 0) : "") + ",";
  return text + "," + csv_cell(without_secrets(error)) + "\n";
}

std::vector<std::int64_t> PredictionRows::labels_in(const std::string& truth) const {
  std::vector<std::int64_t> labels;
  const auto names =
      meaning_.several() ? cut_at(truth, meaning_.delimiter) : std::vector<std::string>{truth};
  for (const auto& name : names) {
    const auto found = std::find(meaning_.classes.begin(), meaning_.classes.end(), name);
    if (found == meaning_.classes.end()) return {};
    labels.push_back(found - meaning_.classes.begin());
  }
  return labels;
}

bool PredictionRows::is_known(const std::string& truth) const {
  if (meaning_.numbers()) return parse_number(truth).has_value();
  return !labels_in(truth).empty();
}

at::Tensor PredictionRows::targets(const std::vector<std::string>& truths,
                                   const std::vector<std::int64_t>& rows) const {
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto truth = [&](std::int64_t i) -> const std::string& {
    return truths[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
  };
  if (meaning_.several()) {
    auto flags = at::zeros({count, static_cast<std::int64_t>(meaning_.classes.size())}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i)
      for (const auto label : labels_in(truth(i))) flags[i][label] = 1;
    return flags;
  }
  auto target = at::zeros({count}, meaning_.numbers() ? at::kFloat : at::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    if (meaning_.numbers())
      target[i] = *parse_number(truth(i));
    else
      target[i] = labels_in(truth(i)).front();
  }
  return target;
}

/// Each row's own mean loss; empty where its truth is unknown.
std::vector<std::string> PredictionRows::losses(const at::Tensor& output,
                                                const std::vector<std::string>& truths) const {
  std::vector<std::string> all(truths.size());
  std::vector<std::int64_t> known;
  for (std::size_t row = 0; row < truths.size(); ++row)
    if (is_known(truths[row])) known.push_back(static_cast<std::int64_t>(row));
  if (known.empty()) return all;
  const auto terms = (*loss_)(output.index_select(0, at::tensor(known)), targets(truths, known));
  const auto count = static_cast<std::int64_t>(known.size());
  if (terms.values.numel() % count != 0) return all;
  const auto sums = terms.values.reshape({count, -1}).to(at::kDouble).sum(1).contiguous();
  const auto weights = terms.weights.reshape({count, -1}).to(at::kDouble).sum(1).contiguous();
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double weight = weights.const_data_ptr<double>()[i];
    if (weight > 0)
      all[static_cast<std::size_t>(known[i])] =
          format_number(sums.const_data_ptr<double>()[i] / weight);
  }
  return all;
}

}  // namespace ddptrain
