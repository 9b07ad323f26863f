// The shards of both splits as one list of images.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sources/image/image_list.h"

namespace ddptrain {

class ImageClasses;

/// Adds the samples of a shard, a name below the list's root, to those of a split.
using AddShard = std::function<void(std::vector<ImageFile>& split, const std::string& shard)>;

/// What reads shards of one kind, and the classes that it has met.
struct ShardReading {
  AddShard add;
  const ImageClasses& classes;
};

/// Lists the shards that `train` and `valid` name, holds out what `valid` says of training samples,
/// and numbers classes. Errors (Exit::data) name data.train or data.valid: shards that are missing
/// (sources/shards/shard_set.h) or have no samples.
void list_shards(ImageList& list, const std::string& train, const ValidSpec& valid,
                 const ShardReading& reading, const KnownClasses& known);

}  // namespace ddptrain
