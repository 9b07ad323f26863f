// Losses with gradients and metrics against torch, fastai and scikit-learn.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "data/mix/blend.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "metrics/smooth_loss.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

at::Tensor tensor(const json& values, const json& shape) {
  return at::tensor(numbers(values), at::kDouble).reshape(shape.get<std::vector<std::int64_t>>());
}

bool integers(const json& values) {
  const json* first = &values;
  while (first->is_array() && !first->empty()) first = &first->front();
  return first->is_number_integer();
}

at::Tensor target_of(const Case& c) {
  const auto target = tensor(c.input.at("target"), c.input.at("target_shape"));
  return integers(c.input.at("target")) ? target.to(at::kLong) : target;
}

std::vector<double> flat(const at::Tensor& values) {
  const auto row = values.detach().to(at::kDouble).contiguous();
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

/// The peers' options without those that are no recipe's: the reduction, and the kind of target,
/// which the target shows.
json recipe_options(const Case& c, const std::string& type) {
  json options = c.input.at("options");
  for (const auto* key : {"reduction", "target", "classes"}) options.erase(key);
  options["type"] = type;
  if (type == "mixup_cross_entropy") return {{"type", "cross_entropy"}};
  if (type == "cross_entropy_last_axis") {
    options["type"] = "cross_entropy";
    options["axis"] = -1;
  }
  return options;
}

at::Tensor permutation_of(const json& from) {
  return at::tensor(from.at("permutation").get<std::vector<std::int64_t>>(), at::kLong);
}

/// What the loader hands out where samples are mixed: targets, their partners', shares.
std::vector<at::Tensor> mixed_targets(const Case& c) {
  const auto& options = c.input.at("options");
  const auto shares = at::tensor(numbers(options.at("lambda")), at::kDouble);
  const auto target = target_of(c);
  return {target, target.index_select(0, permutation_of(options)), shares.expand({target.size(0)})};
}

at::Tensor reduce(const LossTerms& terms, const std::string& reduction) {
  if (reduction == "none") return terms.values;
  if (reduction == "sum") return terms.values.sum();
  return terms.values.sum().div(terms.weights.sum());
}

/// Of cases in which the metric is about a loss.
LossTerms loss_of(const Case& c, const at::Tensor& output) {
  if (c.input.at("metric") != "perplexity") return {};
  const auto loss = catalog<Loss>().build(fragment<Loss>("cross_entropy"), LossContext{});
  return (*loss)(output, target_of(c));
}

std::vector<double> of_first_batch(const Case& c) {
  const auto fragment_of_case = recipe_options(c, c.input.at("metric"));
  const auto metric = catalog<Metric>().build(fragment<Metric>(fragment_of_case), MetricContext{});
  const auto output = tensor(c.input.at("pred"), c.input.at("shape"));
  Metric::Terms total;
  metric->add(total, metric->terms(output, target_of(c), loss_of(c, output)));
  std::vector<double> values;
  for (const auto& [name, value] : metric->values(total)) values.push_back(value);
  for (const auto& table : metric->tables(total))
    if (table.kind == NamedTable::Kind::confusion)
      values.insert(values.end(), table.cells.begin(), table.cells.end());
  return values;
}

}  // namespace

GOLDEN(losses_metrics, loss) {
  const auto options = recipe_options(c, c.input.at("loss"));
  const auto loss = catalog<Loss>().build(fragment<Loss>(options), LossContext{});
  const auto output = tensor(c.input.at("pred"), c.input.at("shape")).requires_grad_(true);
  const bool mixed = c.input.at("loss") == "mixup_cross_entropy";
  const auto terms = loss_of(*loss, output, mixed ? mixed_targets(c) : std::vector{target_of(c)});
  const auto value = reduce(terms, c.input.at("options").value("reduction", "mean"));
  // fastai's Dice counts in float32
  const double tolerance = c.input.at("loss") == "fastai_dice" ? 1e-6 : 1e-9;
  expect_close(flat(value), numbers(c.expect.at("value")), tolerance, 1e-9, "value");
  value.sum().backward();
  expect_close(flat(output.grad()), numbers(c.expect.at("grad")), tolerance, 1e-9, "gradient");
}

GOLDEN(losses_metrics, mixup_input) {
  const auto from = tensor(c.input.at("x"), c.input.at("shape"));
  const auto partners = from.index_select(0, permutation_of(c.input));
  const auto shares = numbers(c.input.at("lambda"));
  const auto rows = from.clone();
  for (std::int64_t row = 0; row < rows.size(0); ++row)
    blend(rows[row], partners[row], shares.at(static_cast<std::size_t>(row) % shares.size()));
  expect_close(flat(rows), numbers(c.expect.at("mixed")), 1e-12, 1e-12, "mixed inputs");
}

GOLDEN(losses_metrics, metric) {
  expect_close(of_first_batch(c), numbers(c.expect.at("value")), 1e-6, 1e-9, "value");
}

/// Batches are dealt to ranks and added in their order: what each rank saw does not matter.
GOLDEN(losses_metrics, mean_over_ranks) {
  const auto metric = catalog<Metric>().build(fragment<Metric>("loss"), MetricContext{});
  const auto values = at::tensor(numbers(c.input.at("values")), at::kDouble);
  const std::int64_t batch = c.input.at("batch");
  Metric::Terms total;
  for (const auto& each : values.split(batch))
    metric->add(total, metric->terms({}, {}, {each, each.new_ones({each.size(0)})}));
  EXPECT_EQ(metric->values(total).front().second, number(c.expect.at("value")));
}

GOLDEN(losses_metrics, smooth_loss) {
  SmoothLoss smooth(c.input.at("beta"));
  std::vector<double> values;
  for (const double loss : numbers(c.input.at("losses"))) {
    smooth.add(loss);
    values.push_back(smooth.value());
  }
  expect_close(values, numbers(c.expect.at("values")), 3e-6, 0, "smoothed loss");
}

}  // namespace ddptrain::golden
