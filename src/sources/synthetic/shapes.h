// A built-in data set of drawn shapes, so that a first training needs no download: ten classes in
// random colors, sizes and poses on cluttered backgrounds.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

struct ShapesOptions {
  std::uint64_t seed = 1;
  int train = 320;  // images per class
  int val = 50;
  int size = 160;  // pixels of each side
};

/// Writes train/<class>/*.jpg and val/<class>/*.jpg below `folder`, all or nothing; the same bytes
/// for the same options everywhere. Returns false, and does nothing, where they are there already.
/// Throws an Error (Exit::data) where the folder holds anything else.
bool make_shapes(const std::string& folder, const ShapesOptions& options = {});

}  // namespace ddptrain
