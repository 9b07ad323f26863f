// `data shards RECIPE FOLDER`: the samples of a data section as tar shards.
#pragma once

#include <cstdint>
#include <string>

#include "recipe/recipe.h"

namespace ddptrain {

/// Writes train-000000.tar and so on, valid-000000.tar and so on (sources/shards/shard_writer.h),
/// of `most` bytes each, and last index.json with classes, names, sizes and digests.
///   images of one class each   KEY.jpg and KEY.cls; training images in random order, by the seed
///   lines of JSON              KEY.json, in their order
/// A call that was interrupted goes on where it is run again. Errors: other data (Exit::recipe), a
/// folder with other files or with shards of other samples (Exit::data).
void write_shards(const Recipe& recipe, const std::string& folder, std::uint64_t most);

}  // namespace ddptrain
