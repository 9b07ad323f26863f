// Images with a class for each pixel.
#pragma once

#include <memory>

#include "data/targets/image_target.h"
#include "sources/image/mask_codes.h"

namespace ddptrain {

/// int64 [N, H, W], out of the PNG files ImageFile::target in `files`. Errors (Exit::data) name the
/// mask: one of another size than its image, a number that is no code. Predictions become PNG files
/// with a palette, of the size of their images and with the numbers that masks in files have.
std::unique_ptr<ImageTarget> mask_target(MaskCodes codes, const FileSystem& files);

}  // namespace ddptrain
