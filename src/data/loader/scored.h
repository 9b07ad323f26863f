// Which samples are scored, whatever a recipe holds out; and which classes they are of.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace ddptrain {

enum class Scored { valid, train, all };
std::span<const std::string_view> names(Scored);

/// The dataset with other samples as its validation split: those of training, or of training and
/// then of validation. They go through the transforms of the validation split.
std::unique_ptr<Dataset> with_scored(std::unique_ptr<Dataset> data, Scored scored);

/// How many samples of a split have no target.
std::int64_t without_target(const Dataset& data, Split split);

/// Names of the classes of which a split has no sample.
std::vector<std::string> absent_classes(const Dataset& data, Split split);

}  // namespace ddptrain
