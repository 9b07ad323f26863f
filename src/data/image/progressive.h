// Progressive resizing: training images are small at first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/choice.h"
#include "config/fields.h"
#include "transforms/image.h"

namespace ddptrain {

/// Training images have `size` pixels along their shorter side until then.
struct SizeStage {
  Duration until = epochs(1);
  std::int64_t size = 0;
  void fields(Fields& f);
};

/// The first epoch behind each stage: shares of a run of `epochs` epochs are rounded to whole ones.
/// Errors (Exit::recipe): a unit other than epochs and shares, a share of a run without a number of
/// epochs, stages that do not follow one another.
std::vector<std::int64_t> stage_ends(const std::vector<SizeStage>& stages,
                                     std::optional<double> epochs);

/// The transforms with every size in them scaled by size / shorter side of `full`, what comes out
/// of them as written.
std::vector<Choice<Transform>> resized(const std::vector<Choice<Transform>>& steps,
                                       const Extent& full, std::int64_t size);

}  // namespace ddptrain
