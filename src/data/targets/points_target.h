// Images with points in them.
#pragma once

#include <functional>
#include <memory>

#include "data/targets/image_target.h"

namespace ddptrain {

/// Whether a point that a transform moved out of the image stays a target, or counts as missing, as
/// one does that the file has outside. (That is an Error (Exit::data) otherwise.)
enum class OutsidePoints { keep, ignore };
std::span<const std::string_view> names(OutsidePoints);

/// Points of an image, in pixels of its file; NaN: missing. An Error (Exit::data) names the file
/// that cannot be read.
using ReadPoints =
    std::function<std::vector<ImagePoint>(const ImageFile& file, const std::string& root)>;

/// float32 [N, points, 2]: x * 2 / width - 1 and y * 2 / height - 1
/// (fastai.vision.core.PointScaler), NaN where missing. `columns` are called x and y of each.
std::unique_ptr<ImageTarget> points_target(std::vector<std::string> columns, OutsidePoints outside,
                                           ReadPoints read);

}  // namespace ddptrain
