// Built-in images with masks, or with points, so that a first training on either needs no
// download.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ddptrain {

struct ScenesOptions {
  std::uint64_t seed = 1;
  int train = 800;  // images
  int val = 100;
  int size = 96;  // pixels of each side
};

/// The classes of masks, in order of their numbers.
inline constexpr std::array<std::string_view, 4> scene_classes{"ground", "circle", "square",
                                                               "star"};

/// Writes images/{train,val}/*.png, masks/{train,val}/*.png (one to three circles, squares and
/// stars; pixels that a shape covers in part are 255) and codes.txt below `folder`, all or nothing;
/// the same pixels for the same options everywhere. Returns false, and does nothing, where they are
/// there already. Throws an Error (Exit::data) where the folder holds anything else.
bool make_masks(const std::string& folder, const ScenesOptions& options = {});

/// The same for images/*.png, each with an arrow, and points.csv: path, x1 and y1 of its middle, x2
/// and y2 of its tip, and split (train or valid).
bool make_points(const std::string& folder, const ScenesOptions& options = {});

}  // namespace ddptrain
