// Images by their paths, as a run reads those of its validation split.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "recipe/recipe.h"
#include "train/training_plan.h"

namespace ddptrain {

/// Valid samples of unknown targets; `as_bytes` where the transforms allow it
/// (ImageDevice::takes_bytes).
std::unique_ptr<Dataset> open_images(const Recipe& recipe, const SavedData& saved,
                                     const std::vector<std::string>& paths, bool as_bytes = false);

/// The kind of dataset that a recipe names, with its traits (data/catalog.cpp).
const EntryBase& dataset_of(const Recipe& recipe);

}  // namespace ddptrain
