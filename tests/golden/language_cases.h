// Language models of golden cases, and what a case says of a tensor.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/shape.h"
#include "models/model.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {

using TokenIds = std::vector<std::int64_t>;

/// config.json as a recipe: the options of the same names. What is null there is auto here.
inline nlohmann::json language_recipe(const nlohmann::json& config) {
  nlohmann::json recipe{{"type", config.at("model_type")}};
  for (const auto& option :
       catalog<Model>().find(config.at("model_type").get<std::string>())->shape().children)
    if (config.contains(option.key) && !config[option.key].is_null())
      recipe[option.key] = config[option.key];
  return recipe;
}

inline std::unique_ptr<Model> model_of_config(const nlohmann::json& config) {
  ModelContext context;
  context.data.cardinalities = {config.at("vocab_size")};
  context.generator = at::detail::getDefaultCPUGenerator();
  return catalog<Model>().build(fragment<Model>(language_recipe(config)), context);
}

/// Entry j of the state is u(i, j + 1000 * seed), scaled; one with two names has that of the first.
inline void fill_state(const Model& model, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  std::set<const void*> seen;
  std::uint64_t j = 0;
  for (const auto& [name, tensor] : model.state()) {
    const auto k = j++ + 1000 * seed;
    if (!seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    const auto fan = tensor.numel() / tensor.size(0);
    const auto weights = formula_weights(name, static_cast<std::size_t>(tensor.dim()), fan, k);
    auto* values = tensor.mutable_data_ptr<float>();
    for (std::int64_t i = 0, end = tensor.numel(); i < end; ++i)
      values[i] = static_cast<float>(weights(i));
  }
}

inline std::unique_ptr<Model> filled_model(const Case& c, at::ScalarType type = at::kDouble) {
  auto model = model_of_config(c.input.at("config"));
  fill_state(*model, c.input.at("seed"));
  model->to(at::kCPU, type);
  return model;
}

inline at::Tensor token_rows(const nlohmann::json& rows) {
  TokenIds all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return at::tensor(all).view({static_cast<std::int64_t>(rows.size()), -1});
}

inline std::vector<double> doubles_of(const at::Tensor& tensor) {
  const auto values = tensor.detach().to(at::kDouble).contiguous();
  const auto* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

inline double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const auto value : values) most = std::max(most, std::abs(value));
  return most;
}

/// {shape, values} or {shape, every, values}; `near` of the largest value.
inline void expect_sampled(const at::Tensor& actual, const nlohmann::json& expected,
                           double relative, double absolute = 1e-12) {
  const auto values = numbers(expected.at("values"));
  const auto every = expected.value("every", std::int64_t{1});
  const auto some = actual.flatten().slice(0, 0, std::nullopt, every);
  expect_close(doubles_of(some), values, 0, relative * largest_of(values) + absolute, "values");
}

/// {norm, sum, at, values}.
inline void expect_summary(const at::Tensor& actual, const nlohmann::json& expected,
                           double relative, const std::string& name) {
  const auto values = doubles_of(actual);
  double squares = 0, sum = 0;
  for (const auto value : values) squares += value * value, sum += value;
  const double norm = expected.at("norm");
  const double size = std::sqrt(static_cast<double>(values.size()));
  EXPECT_NEAR(std::sqrt(squares), norm, relative * norm + 1e-12) << name;
  EXPECT_NEAR(sum, expected.at("sum"), relative * norm * size + 1e-12) << name;
  std::vector<double> some;
  for (const std::size_t place : expected.at("at")) some.push_back(values.at(place));
  expect_close(some, numbers(expected.at("values")), 0, relative * norm + 1e-12, name);
}

}  // namespace ddptrain::golden
