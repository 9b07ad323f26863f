// The validation images of a run before its transforms, and these as data.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "jobs/saved_model.h"
#include "recipe/recipe.h"
#include "transforms/size_change.h"

namespace ddptrain {

/// What data.transforms.valid does before its closing normalize, and `result` is the size after it:
/// where it ends in a resize of one side, all images have one aspect, and it is a resize to that.
/// An Error (Exit::recipe) names a transform that a graph cannot hold.
std::vector<SizeChange> size_changes_of(const Recipe& recipe, const Extent& result);

class DecodedImages {
 public:
  /// `data` has the samples after the transforms and outlives it. An Error (Exit::recipe) where
  /// they are no images.
  DecodedImages(const Recipe& recipe, const SavedData& saved, const Dataset& data);

  /// uint8 [1, height, width, channels], with how bytes become the model's numbers.
  Batch image(Split split, std::int64_t index) const;

 private:
  Recipe recipe_;
  SavedData saved_;
  const Dataset& data_;
  std::unique_ptr<Dataset> pixels_;  // where they are no files
};

}  // namespace ddptrain
