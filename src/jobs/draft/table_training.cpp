#include "jobs/draft/table_training.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "jobs/draft/draft.h"
#include "sources/table/table.h"

namespace ddptrain {
namespace {

/// To four digits: what the layers learn need not have mean 0 and deviation 1 exactly.
std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3e", value);
  return format_number(std::strtod(text, nullptr));
}

struct Scale {
  double mean = 0;
  double deviation = 1;
};

/// Of the training rows' targets; those that are missing do not count.
Scale scale_of_targets(const std::vector<float>& targets) {
  double sum = 0, squares = 0, count = 0;
  for (const double value : targets)
    if (!std::isnan(value)) sum += value, ++count;
  Scale scale{sum / count};
  for (const double value : targets)
    if (!std::isnan(value)) squares += (value - scale.mean) * (value - scale.mean);
  const double deviation = std::sqrt(squares / count);
  if (deviation > 0) scale.deviation = deviation;
  return scale;
}

/// More passes over fewer rows, some thousand steps in all; bench/tables.py compares.
int epochs_of_rows(std::int64_t rows) {
  return rows < 500 ? 20 : rows < 2500 ? 30 : rows < 10'000 ? 20 : rows < 50'000 ? 8 : 4;
}

struct Caution {
  const char* rate;
  const char* dropout;
};

/// Of few rows a network learns the noise; bench/tables.py compares.
Caution caution_of_rows(std::int64_t rows) {
  return rows < 500 ? Caution{"2e-3", "0.5"} : Caution{"5e-3", "0.2"};
}

/// Never one row: batch norm wants two.
std::int64_t batch_of_rows(std::int64_t rows) {
  if (rows < 16) return std::max<std::int64_t>(2, rows / 2);
  return rows < 100 ? 8 : rows < 250 ? 16 : rows < 2500 ? 32 : rows < 10'000 ? 64 : 256;
}

std::string loss_and_metrics(const Table& table) {
  const auto classes = table.fit.target_classes.size();
  if (classes > 0)
    return std::string("loss: cross_entropy\nmetrics: [accuracy, {type: f1, average: macro}") +
           (classes == 2 ? ", roc_auc_binary]\n" : "]\n");
  const auto deviation = rounded(scale_of_targets(table.splits[0].numbers).deviation);
  return "loss: {type: mse, scale: " + deviation +
         "}     # in deviations: 1 is what the mean of the targets would cost\n"
         "metrics: [rmse, mae, r2]                 # in the target's own units\n";
}

std::string y_scale_of(const Table& table) {
  if (!table.fit.target_classes.empty()) return "";
  const auto scale = scale_of_targets(table.splits[0].numbers);
  return ", y_scale: [" + rounded(scale.mean) + ", " + rounded(scale.deviation) + "]";
}

}  // namespace

std::string training_lines(const Table& table, const std::string& data) {
  const auto rows = static_cast<std::int64_t>(table.splits[0].rows.size());
  const bool regression = table.fit.target_classes.empty();
  const int epochs = epochs_of_rows(rows);
  const auto caution = caution_of_rows(rows);
  return "# A network that begins as a straight line; dropout in its layers" +
         std::string(regression ? ", outputs scaled to the target's mean and deviation" : "") +
         ".\nmodel: {type: tabular, layers: [200, 100], ps: [" + caution.dropout +
         "], linear_skip: true" + y_scale_of(table) + "}\n\ndata:\n" + data +
         "\nbatch: {global: " + std::to_string(batch_of_rows(rows)) +
         "}\ntrain: {duration: " + std::to_string(epochs) + " epochs}\n" + loss_and_metrics(table) +
         "optimizer: {type: adamw, lr: " + caution.rate +
         ", weight_decay: 1e-2, no_decay: [norm, bias]}\n" + closing_lines("loss", epochs);
}

}  // namespace ddptrain
