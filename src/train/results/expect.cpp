#include "train/results/expect.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "base/output/log.h"
#include "base/text.h"

namespace ddptrain {
namespace {

std::optional<double> find_metric(const NamedValues& values, const std::string& name) {
  const auto full = name.find('/') == std::string::npos ? "valid/" + name : name;
  for (const auto& [metric, value] : values)
    if (metric == full) return value;
  return {};
}

std::string bounds_text(const ExpectSpec& bounds) {
  std::vector<std::string> parts;
  if (bounds.min) parts.push_back("at least " + format_number(*bounds.min));
  if (bounds.max) parts.push_back("at most " + format_number(*bounds.max));
  return join(parts, ", ");
}

}  // namespace

std::string short_metric(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::vector<Expectation> expectations(const Recipe& recipe, const NamedValues& metrics) {
  std::vector<Expectation> all;
  for (const auto& [name, bounds] : recipe.expect) {
    const auto value = find_metric(metrics, name);
    const bool met =
        value && (!bounds.min || *value >= *bounds.min) && (!bounds.max || *value <= *bounds.max);
    all.push_back({name, bounds_text(bounds), value, met});
  }
  return all;
}

bool meets(const Recipe& recipe, const NamedValues& metrics, const ScoredWeights& weights) {
  bool all = true;
  const auto whose = weights.name.empty() ? "" : fmt::format(" ({})", to_text(weights));
  for (const auto& expected : expectations(recipe, metrics)) {
    if (!expected.met)
      log::error("expect: {} is {}, {} was expected", expected.metric,
                 expected.value ? short_metric(*expected.value) + whose : "not computed",
                 expected.bounds);
    all = all && expected.met;
  }
  return all;
}

}  // namespace ddptrain
