// Images of one class each, or with any number of labels.
#pragma once

#include <memory>

#include "data/targets/image_target.h"

namespace ddptrain {

/// int64 [N]: ImageFile::label.
std::unique_ptr<ImageTarget> label_target();

/// float32 [N, classes] of zeros and ones: ImageFile::labels.
std::unique_ptr<ImageTarget> labels_target(std::int64_t classes);

}  // namespace ddptrain
