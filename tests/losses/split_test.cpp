// A loss is a sum and a weight: whatever way a batch is cut, the parts add up to the whole.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "config/shape.h"
#include "losses/loss.h"
#include "losses/tried_losses.h"
#include "support/node.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kRows = 13, kClasses = 4;

// recipe/rules/kinds.cpp refuses it: the rule "loss-weight".
const std::set<std::string> kRefused{"fastai_label_smoothing.weight"};

at::Tensor normal(Stream& random, const std::vector<std::int64_t>& shape) {
  auto values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.mutable_data_ptr<double>()[i] = random.normal();
  return values;
}

at::Tensor drawn_labels(Stream& random, const std::vector<std::int64_t>& shape) {
  auto labels = at::empty(shape, at::kLong);
  for (std::int64_t i = 0; i < labels.numel(); ++i)
    labels.mutable_data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(kClasses));
  return labels;
}

std::vector<std::int64_t> output_shape(Given given) {
  if (given == Given::pixel_label) return {kRows, kClasses, 2, 3};
  return {kRows, given == Given::number ? 2 : kClasses};
}

at::Tensor target(Stream& random, Given given) {
  if (given == Given::label) return drawn_labels(random, {kRows});
  if (given == Given::pixel_label) return drawn_labels(random, {kRows, 2, 3});
  const auto values = normal(random, output_shape(given));
  return given == Given::probabilities ? values.softmax(1) : values;
}

/// Sum of the values, sum of the weights, and the gradient of the former in the output.
struct Sums {
  double value = 0, weight = 0;
  at::Tensor gradient;
};

Sums sums(const Loss& loss, const at::Tensor& output, const std::vector<at::Tensor>& targets) {
  const auto leaf = output.detach().clone().requires_grad_(true);
  const auto terms = loss_of(loss, leaf, targets);
  EXPECT_EQ(terms.values.sizes(), terms.weights.sizes());
  terms.values.sum().backward();
  return {terms.values.sum().item<double>(), terms.weights.sum().item<double>(), leaf.grad()};
}

Sums of_parts(const Loss& loss, const at::Tensor& output, const std::vector<at::Tensor>& targets,
              const std::vector<std::int64_t>& ends) {
  Sums total;
  std::vector<at::Tensor> gradients;
  std::int64_t first = 0;
  for (const auto end : ends) {
    std::vector<at::Tensor> part;
    for (const auto& each : targets) part.push_back(each.slice(0, first, end));
    const auto one = sums(loss, output.slice(0, first, end), part);
    total.value += one.value;
    total.weight += one.weight;
    gradients.push_back(one.gradient);
    first = end;
  }
  total.gradient = at::cat(gradients);
  return total;
}

/// Where parts end, some of them without rows.
std::vector<std::int64_t> drawn_cut(Stream& random) {
  std::vector<std::int64_t> ends{kRows};
  for (auto more = random.below(6); more > 0; --more)
    ends.push_back(static_cast<std::int64_t>(random.below(kRows + 1)));
  std::sort(ends.begin(), ends.end());
  return ends;
}

void expect_equal(const Sums& actual, const Sums& expected) {
  EXPECT_NEAR(actual.value, expected.value, 1e-12 * (1 + std::abs(expected.value)));
  EXPECT_NEAR(actual.weight, expected.weight, 1e-12 * (1 + expected.weight));
  EXPECT_TRUE(actual.gradient.allclose(expected.gradient, 1e-12, 1e-14));
}

void expect_same_sums_however_cut(const TriedLoss& tried, const TriedLoss::Case& each,
                                  Stream& random) {
  auto recipe = each.options;
  recipe["type"] = tried.name;
  SCOPED_TRACE(recipe.dump());
  const auto loss = catalog<Loss>().build(fragment<Loss>(recipe), LossContext{});
  for (int round = 0; round < 20; ++round) {
    auto output = normal(random, output_shape(each.given));
    if (tried.takes_logarithms) output = at::log_softmax(output, 1);
    std::vector<at::Tensor> targets{target(random, each.given)};
    if (round % 2 == 1) {  // rows are mixtures
      targets.push_back(target(random, each.given));
      targets.push_back(normal(random, {kRows}).sigmoid());
    }
    expect_equal(of_parts(*loss, output, targets, drawn_cut(random)), sums(*loss, output, targets));
  }
}

TEST(Losses, AddUpHoweverABatchIsCut) {
  Stream random(3, 0);
  for (const auto& tried : tried_losses())
    for (const auto& each : tried.cases) expect_same_sums_however_cut(tried, each, random);
}

TEST(Losses, AreAllTriedWithEveryOption) {
  std::set<std::string> tried = kRefused, all;
  for (const auto& loss : tried_losses()) {
    if (!loss.cases.empty()) tried.insert(loss.name);
    for (const auto& each : loss.cases)
      for (const auto& [key, value] : each.options.items()) tried.insert(loss.name + "." + key);
  }
  for (std::size_t i = 0; i < catalog<Loss>().size(); ++i) {
    const auto& entry = catalog<Loss>().at(i);
    all.insert(entry.name);
    for (const auto& option : entry.shape().children) all.insert(entry.name + "." + option.key);
  }
  EXPECT_EQ(tried, all) << "each loss has a row in tests/losses/tried_losses.cpp";
}

TEST(Losses, SayWhichTargetsTheyTake) {
  for (const auto& tried : tried_losses()) {
    const auto* entry = catalog<Loss>().find(tried.name);
    ASSERT_NE(entry, nullptr) << tried.name;
    for (const auto* trait : {"takes_class", "takes_labels", "takes_number", "takes_mask",
                              "takes_points", "takes_token"})
      EXPECT_EQ(entry->has(trait), tried.takes.contains(trait)) << tried.name << " " << trait;
  }
}

}  // namespace
}  // namespace ddptrain
