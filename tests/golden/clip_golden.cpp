// Clipped gradients against torch.nn.utils.
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "optim/clip.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

/// The gradients of a step: sin(0.7 i + 0.9 k + 0.5 t) (0.2 + 0.1 t), element i of parameter k.
std::vector<at::Tensor> gradients_of(const json& input) {
  const std::vector<std::vector<std::int64_t>> shapes{{3, 4}, {5}, {2, 3}};
  const double t = input.at("step");
  std::vector<at::Tensor> gradients;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    std::int64_t count = 1;
    for (const auto size : shapes[k]) count *= size;
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(
          std::sin(0.7 * static_cast<double>(i) + 0.9 * static_cast<double>(k) + 0.5 * t) *
          (0.2 + 0.1 * t) * input.value("scale", 1.0));
    gradients.push_back(at::tensor(values, at::kDouble).reshape(shapes[k]));
  }
  return gradients;
}

/// A case may have one entry that is not finite: the one that stays so when the others are 0, or
/// any where all are spoilt.
void spoil(const Case& c, const std::vector<at::Tensor>& gradients) {
  if (!c.input.contains("bad") || c.input.at("bad").is_null()) return;
  std::vector<at::Tensor> entries;
  for (const auto& gradient : gradients)
    for (const auto& entry : gradient.view({-1}).unbind()) entries.push_back(entry);
  const auto expected = numbers(c.expect.at("grads"));
  std::size_t bad = 0;
  while (bad + 1 < expected.size() && std::isfinite(expected[bad])) ++bad;
  entries.at(bad).fill_(number(c.input.at("bad")));
}

std::vector<double> joined(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> rows;
  for (const auto& gradient : gradients) rows.push_back(gradient.reshape({-1}));
  const auto row = at::cat(rows);
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

}  // namespace

GOLDEN(optimizers, clip_norm) {
  const bool largest = c.input.value("norm_type", json(2.0)) == "inf";
  const json recipe{{"type", "norm"},
                    {"max", c.input.at("max")},
                    {"p", largest ? json() : c.input.value("norm_type", json(2.0))}};
  const auto clip = catalog<Clip>().build(fragment<Clip>(recipe));
  const auto gradients = gradients_of(c.input);
  spoil(c, gradients);
  const double norm = (*clip)(gradients, 1);
  expect_close({norm}, {number(c.expect.at("total_norm"))}, 1e-12, 1e-9, "norm");
  expect_close(joined(gradients), numbers(c.expect.at("grads")), 0, 1e-9, "gradients");
}

GOLDEN(optimizers, clip_value) {
  const json recipe{{"type", "value"}, {"max", c.input.at("max")}};
  const auto clip = catalog<Clip>().build(fragment<Clip>(recipe));
  const auto gradients = gradients_of(c.input);
  spoil(c, gradients);
  (*clip)(gradients, 1);
  expect_close(joined(gradients), numbers(c.expect.at("grads")), 0, 1e-9, "gradients");
}

}  // namespace ddptrain::golden
