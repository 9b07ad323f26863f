// Images with one number or several.
#pragma once

#include <memory>

#include "data/targets/image_target.h"

namespace ddptrain {

/// ImageFile::numbers: float32 [N], or of several names [N, names]. NaN: missing.
std::unique_ptr<ImageTarget> number_target(std::vector<std::string> names);

}  // namespace ddptrain
