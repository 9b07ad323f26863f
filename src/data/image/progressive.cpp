#include "data/image/progressive.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

double in_epochs(const Duration& until, std::optional<double> epochs) {
  if (until.unit == Duration::Unit::epochs) return until.count;
  if (until.unit != Duration::Unit::share)
    throw Error(Exit::recipe, Option{"data.transforms.progressive"},
                "'{}' is no number of epochs and no share of the run", to_text(until));
  if (!epochs)
    throw Error(Exit::recipe, Option{"data.transforms.progressive"},
                "'{}' is a share of a run that is not measured in epochs; write 'until: 3 epochs'",
                to_text(until));
  return until.count * *epochs;
}

/// Numbers become round(number * by), at least 1: one side, a list of sides, or a map of either.
void scale(Node& value, double by) {
  if (const auto number = value.is_scalar() ? parse_integer(value.text) : std::nullopt) {
    const auto scaled = std::llround(static_cast<double>(*number) * by);
    value.text = std::to_string(std::max<long long>(1, scaled));
  }
  for (auto& item : value.items) scale(item, by);
  for (auto& member : value.members) scale(member.value, by);
}

}  // namespace

void SizeStage::fields(Fields& f) {
  f("until", until,
    {.doc = "When this ends: epochs, or a share of the run.",
     .required = true,
     .example = "3 epochs"});
  f("size", size,
    {.doc = "Pixels of the shorter side; sizes in the training transforms are scaled to give it.",
     .min = 1,
     .max = 65535,
     .required = true,
     .unit = "px",
     .example = "128"});
}

std::vector<std::int64_t> stage_ends(const std::vector<SizeStage>& stages,
                                     std::optional<double> epochs) {
  std::vector<std::int64_t> ends;
  for (const auto& stage : stages) {
    const auto end = std::llround(in_epochs(stage.until, epochs));
    if (end <= (ends.empty() ? 0 : ends.back()))
      throw Error(Exit::recipe, Option{"data.transforms.progressive"},
                  "nothing is left for 'until: {}', size {}: it ends with the epoch in which it "
                  "would begin",
                  to_text(stage.until), stage.size);
    ends.push_back(end);
  }
  return ends;
}

std::vector<Choice<Transform>> resized(const std::vector<Choice<Transform>>& steps,
                                       const Extent& full, std::int64_t size) {
  const double by = static_cast<double>(size) / std::min(full.height, full.width);
  std::vector<Choice<Transform>> scaled;
  for (const auto& step : steps) {
    Node node = step.node();
    for (const auto* option : {"size", "max_size"})
      if (auto* value = node.find(option)) scale(*value, by);
    scaled.emplace_back().choose(std::move(node));
  }
  return scaled;
}

}  // namespace ddptrain
