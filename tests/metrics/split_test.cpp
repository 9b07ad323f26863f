// A metric's terms add up: whatever way rows are cut into batches, its values are those of all rows
// at once.
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "config/shape.h"
#include "metrics/metric.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;

constexpr std::int64_t kSamples = 17;

at::Tensor normal_draws(Stream& random, const std::vector<std::int64_t>& shape) {
  auto values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.mutable_data_ptr<double>()[i] = random.normal();
  return values;
}

/// Outputs and targets that a metric takes.
struct Scored {
  at::Tensor output, target;
};

Scored drawn_for(const EntryBase& metric, Stream& random) {
  const bool two = metric.has("two_classes");
  if (metric.has("takes_number")) {
    const auto target = normal_draws(random, {kSamples}).abs();
    return {target.add(normal_draws(random, {kSamples}).mul(0.3)).abs().unsqueeze(1), target};
  }
  if (metric.has("takes_points")) {
    const auto target = normal_draws(random, {kSamples, 3, 2});
    return {target.add(normal_draws(random, {kSamples, 3, 2}).mul(0.3)).flatten(1), target};
  }
  if (metric.has("takes_labels"))
    return {normal_draws(random, {kSamples, 4}),
            normal_draws(random, {kSamples, 4}).gt(0).to(at::kDouble)};
  const std::int64_t classes = two ? 2 : 4;
  const auto target =
      normal_draws(random, {kSamples}).abs().mul(2).to(at::kLong).clamp_max(classes - 1);
  return {normal_draws(random, {kSamples, classes}), target};
}

LossTerms loss_of_rows(const at::Tensor& output) {
  const auto values = output.abs().flatten(1).sum(1);
  return {values, values.mul(0).add(1)};
}

Metric::Values in_parts(const Metric& metric, const Scored& all,
                        const std::vector<std::int64_t>& ends) {
  Metric::Terms total;
  std::int64_t first = 0;
  for (const auto end : ends) {
    const auto output = all.output.slice(0, first, end);
    metric.add(total, metric.terms(output, all.target.slice(0, first, end), loss_of_rows(output)));
    first = end;
  }
  return metric.values(total);
}

std::vector<std::int64_t> drawn_ends(Stream& random) {
  std::vector<std::int64_t> ends{kSamples};
  for (auto more = random.below(6); more > 0; --more)
    ends.push_back(static_cast<std::int64_t>(random.below(kSamples + 1)));
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// The metric with its defaults, and with every word of every option.
std::vector<json> variants(const EntryBase& metric) {
  std::vector<json> all{{{"type", metric.name}}};
  for (const auto& option : metric.shape().children) {
    for (const auto& word : option.words)
      all.push_back({{"type", metric.name}, {option.key, word}});
    if (option.kind != Shape::Kind::boolean) continue;
    for (const bool value : {false, true})
      all.push_back({{"type", metric.name}, {option.key, value}});
  }
  return all;
}

void expect_equal(const Metric::Values& actual, const Metric::Values& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].first, expected[i].first);
    if (std::isnan(expected[i].second))
      EXPECT_TRUE(std::isnan(actual[i].second)) << expected[i].first;
    else
      EXPECT_NEAR(actual[i].second, expected[i].second, 1e-11) << expected[i].first;
  }
}

/// 'average: binary', the default of those that have it, is about two classes.
bool is_binary(const json& metric, const EntryBase& entry) {
  for (const auto& option : entry.shape().children)
    if (option.key == "average" && option.words.front() == "binary")
      return metric.value("average", "binary") == "binary";
  return false;
}

Scored drawn_for(const json& metric, const EntryBase& entry, Stream& random) {
  auto drawn = drawn_for(entry, random);
  if (!is_binary(metric, entry)) return drawn;
  return {drawn.output.slice(1, 0, 2), drawn.target.clamp_max(1)};
}

TEST(Metrics, AddUpHoweverRowsAreCut) {
  Stream random(5, 0);
  for (std::size_t i = 0; i < catalog<Metric>().size(); ++i) {
    const auto& entry = catalog<Metric>().at(i);
    for (const auto& variant : variants(entry)) {
      SCOPED_TRACE(variant.dump());
      const auto metric = catalog<Metric>().build(
          fragment<Metric>(variant),
          MetricContext{.sample = {3, 50, 80}, .tokens = TokenFacts{{1, 0, 4, 2}}});
      for (int round = 0; round < 10; ++round) {
        const auto all = drawn_for(variant, entry, random);
        expect_equal(in_parts(*metric, all, drawn_ends(random)),
                     in_parts(*metric, all, {kSamples}));
      }
    }
  }
}

}  // namespace
}  // namespace ddptrain
