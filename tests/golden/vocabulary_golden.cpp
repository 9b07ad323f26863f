// Losses and metrics over a vocabulary against torch, for language models.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "losses/loss.h"
#include "losses/rows.h"
#include "losses/vocabulary_loss.h"
#include "metrics/metric.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

/// u(i, k) of the flat places, times a scale, in double.
at::Tensor formula_tensor(const Sizes& sizes, std::uint64_t k, double scale) {
  const auto tensor = at::empty(sizes, at::kDouble);
  auto* values = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = scale * formula(static_cast<std::uint64_t>(i), k);
  return tensor;
}

std::vector<double> flat(const at::Tensor& tensor) {
  const auto row = tensor.detach().to(at::kDouble).contiguous();
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

/// All values, or norm, sum and the elements at some places.
void expect_tensor(const at::Tensor& actual, const json& expected, const std::string& what) {
  const auto values = flat(actual);
  const double near = 1e-10 * std::max(1.0, actual.abs().max().item<double>());
  if (!expected.contains("at")) {
    const auto& all = expected.is_array() ? expected : expected.at("values");
    return expect_close(values, numbers(all), 0, near, what);
  }
  std::vector<double> some;
  for (const auto& place : expected.at("at")) some.push_back(values.at(place.get<std::size_t>()));
  expect_close(some, numbers(expected.at("values")), 0, near, what);
  EXPECT_NEAR(actual.norm().item<double>(), expected.at("norm"), 1e-9) << what;
}

struct VocabularyCase {
  ProjectedOutput output;
  at::Tensor target;
  json options;

  explicit VocabularyCase(const Case& c) : options(c.input.at("options")) {
    const std::int64_t rows = c.input.at("rows"), width = c.input.at("width");
    const std::int64_t vocabulary = c.input.at("vocabulary");
    const std::uint64_t k = c.input.at("k");
    output.hidden = formula_tensor({rows, width}, k, std::sqrt(3.0) * options.value("scale", 1.0));
    output.weight =
        formula_tensor({vocabulary, width}, k + 1, std::sqrt(3.0 / static_cast<double>(width)));
    if (options.value("bias", false)) output.bias = formula_tensor({vocabulary}, k + 2, 0.5);
    output.soft_cap = options.value("soft_cap", 0.0);
    target = at::tensor(c.input.at("target").get<Sizes>());
    for (auto* tensor : {&output.hidden, &output.weight, &output.bias})
      if (tensor->defined()) tensor->set_requires_grad(true);
  }

  double divisor() const {
    if (options.value("reduction", "") == "sum") return 1;
    if (options.contains("tokens_of_all")) return options.at("tokens_of_all");
    return target.ne(kNoLabel).sum().item<double>();
  }

  void expect_gradients(const json& expected, const std::string& what) const {
    expect_tensor(output.hidden.grad(), expected.at("hidden_gradient"), what + ", hidden");
    expect_tensor(output.weight.grad(), expected.at("weight_gradient"), what + ", weight");
    if (output.bias.defined())
      expect_tensor(output.bias.grad(), expected.at("bias_gradient"), what + ", bias");
  }
};

/// Chunks of each size, and values whose gradients differ, for which the backward pass computes the
/// scores again.
void expect_chunks(const Case& c) {
  for (const std::int64_t at_once : c.input.at("chunks"))
    for (const bool uniform : {true, false}) {
      VocabularyCase given(c);
      const auto learned = learned_places(given.output.hidden, given.target);
      auto output = given.output;
      output.hidden = learned.hidden;
      const VocabularyLossOptions options{given.options.value("label_smoothing", 0.0),
                                          given.options.value("z_loss", 0.0), at_once};
      auto values = vocabulary_loss(output, learned.labels, options);
      if (!uniform) {  // the same sum by gradients of 1 and 3
        const auto more = values.narrow(0, 0, 1);
        values = at::cat({values, more.mul(2), more.mul(-2)});
      }
      const auto value = values.sum().div(given.divisor());
      EXPECT_NEAR(value.item<double>(), c.expect.at("loss"), 1e-10 * (1 + value.item<double>()));
      value.backward();
      given.expect_gradients(c.expect, std::to_string(at_once) + " places at once");
    }
}

GOLDEN(language_models, vocabulary_loss) {
  VocabularyCase given(c);
  const json recipe = {{"type", "cross_entropy"},
                       {"label_smoothing", given.options.value("label_smoothing", 0.0)},
                       {"z_loss", given.options.value("z_loss", 0.0)}};
  const auto loss = catalog<Loss>().build(fragment<Loss>(recipe), LossContext{});
  const auto terms = loss->projected(given.output, given.target);
  EXPECT_EQ(terms.weights.sum().item<double>(), c.expect.at("tokens").get<double>());
  const auto value = terms.values.sum().div(given.divisor());
  EXPECT_NEAR(value.item<double>(), c.expect.at("loss"), 1e-10 * (1 + value.item<double>()));
  value.backward();
  given.expect_gradients(c.expect, "as the recipe has it");
  expect_chunks(c);
}

/// Bytes of each token of the vocabulary such that the targets together have so many: what is left
/// after one each is that of a token that occurs once.
std::vector<std::int32_t> bytes_for(std::int64_t vocabulary, const std::vector<Sizes>& targets,
                                    std::int64_t bytes) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const auto& row : targets)
    for (const auto token : row)
      if (token != kNoLabel) ++counts[token];
  std::vector<std::int32_t> each(static_cast<std::size_t>(vocabulary), 1);
  for (const auto& [token, count] : counts) bytes -= count;
  for (const auto& [token, count] : counts)
    if (count == 1 && bytes != 0) {
      each[static_cast<std::size_t>(token)] += static_cast<std::int32_t>(bytes);
      bytes = 0;
    }
  EXPECT_EQ(bytes, 0) << "no token occurs once";
  return each;
}

void expect_metric(const json& recipe, const MetricContext& context, const Case& c,
                   const std::string& name, double expected) {
  const auto metric = catalog<Metric>().build(fragment<Metric>(recipe), context);
  const auto loss = catalog<Loss>().build(fragment<Loss>("cross_entropy"), LossContext{});
  Metric::Terms total;
  const std::uint64_t k = c.input.at("k");
  const std::int64_t vocabulary = c.input.at("vocabulary");
  for (std::size_t j = 0; j < c.input.at("sizes").size(); ++j) {
    const std::int64_t rows = c.input.at("sizes")[j];
    const auto all = at::tensor(c.input.at("targets")[j].get<Sizes>());
    const auto learned = learned_places(formula_tensor({rows, vocabulary}, k + j, 3), all);
    const auto terms = (*loss)(learned.hidden, learned.labels);
    metric->add(total, metric->terms(learned.hidden, learned.labels, terms));
  }
  for (const auto& [key, value] : metric->values(total))
    if (key == name) {
      EXPECT_NEAR(value, expected, 1e-10 * std::max(1.0, std::abs(expected))) << name;
      return;
    }
  ADD_FAILURE() << "no value '" << name << "'";
}

GOLDEN(language_models, token_metrics) {
  const auto targets = c.input.at("targets").get<std::vector<Sizes>>();
  std::int64_t bytes = 0, tokens = 0;
  for (const std::int64_t each : c.input.at("bytes")) bytes += each;
  for (const auto& batch : c.expect.at("batches")) tokens += batch.at("tokens").get<std::int64_t>();
  MetricContext context;
  context.tokens.emplace().bytes = bytes_for(c.input.at("vocabulary"), targets, bytes);
  const auto expect = [&](const json& recipe, const std::string& name, double value) {
    expect_metric(recipe, context, c, name, value);
  };
  expect("loss", "loss", number(c.expect.at("loss")));
  expect("perplexity", "perplexity", number(c.expect.at("perplexity")));
  expect("perplexity", "perplexity/tokens", static_cast<double>(tokens));
  expect("next_token_accuracy", "next_token_accuracy", number(c.expect.at("token_accuracy")));
  expect("next_token_accuracy", "next_token_accuracy/tokens", static_cast<double>(tokens));
  expect({{"type", "top_k"}, {"k", 5}}, "top_5", number(c.expect.at("top_5_accuracy")));
  expect("bits_per_byte", "bits_per_byte", number(c.expect.at("bits_per_byte")));
  expect("bits_per_byte", "bits_per_byte/bytes", static_cast<double>(bytes));
}

}  // namespace
}  // namespace ddptrain::golden
