// Transforms for images of different sizes, where a recipe has none.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace ddptrain {

class FileSystem;

/// Pixels of a side that a network trains on, by the middle one of the images' shorter sides: small
/// images are not blown up, and large ones are no larger than a CPU can do with.
int usual_side(int middle);

/// {train: [...], valid: [...]}: crops of `side` pixels, mirrored at random in training.
Node usual_transforms(int side);

/// The same for such files, by the headers of some of them; null where they are of one size or
/// cannot be read.
Node usual_transforms_for(const FileSystem& files, const std::vector<std::string>& paths);

}  // namespace ddptrain
