#include "recipe/sweep/draws.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/random.h"
#include "base/text.h"
#include "recipe/sweep/sobol.h"

namespace ddptrain {
namespace {

double six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return parse_number(text).value_or(value);
}

double number_at(const SweepAxis& axis, double u) {
  const double low = *axis.spec.min, high = *axis.spec.max + (axis.whole ? 1 : 0);
  const double value = axis.spec.log
                           ? std::exp(std::log(low) + u * (std::log(high) - std::log(low)))
                           : low + u * (high - low);
  return std::clamp(axis.whole ? std::floor(value) : six_digits(value), *axis.spec.min,
                    *axis.spec.max);
}

/// The digits of a trial's number, each in the base of how many values its axis has.
std::vector<Node> grid_point(const std::vector<SweepAxis>& axes, std::int64_t trial) {
  std::vector<Node> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto count = std::ssize(axes[i].spec.values);
    values[i] = axes[i].spec.values[static_cast<std::size_t>(trial % count)];
    trial /= count;
  }
  return values;
}

double draw(SweepDraw how, const SweepAxis& axis, int dimension, std::int64_t trial,
            std::uint64_t seed) {
  const auto number = static_cast<std::uint64_t>(trial);
  if (how == SweepDraw::sobol) return sobol(static_cast<std::uint32_t>(trial), dimension);
  return Stream(mix(seed, hash_text("sweep " + axis.key)), number).uniform();
}

}  // namespace

Node value_at(const SweepAxis& axis, double u) {
  const auto& values = axis.spec.values;
  if (axis.spec.is_range()) return Node::scalar(format_number(number_at(axis, u)));
  const auto index = static_cast<std::size_t>(u * static_cast<double>(values.size()));
  return values.at(std::min(index, values.size() - 1));
}

std::vector<std::vector<Node>> settings_of(const SweepSpec& sweep,
                                           const std::vector<SweepAxis>& axes, std::uint64_t seed) {
  const auto how = draw_of(sweep);
  std::vector<std::vector<Node>> settings;
  for (std::int64_t trial = 0; trial < trial_count(sweep); ++trial) {
    if (how == SweepDraw::grid) {
      settings.push_back(grid_point(axes, trial));
      continue;
    }
    auto& values = settings.emplace_back();
    for (std::size_t i = 0; i < axes.size(); ++i)
      values.push_back(value_at(axes[i], draw(how, axes[i], static_cast<int>(i), trial, seed)));
  }
  return settings;
}

}  // namespace ddptrain
