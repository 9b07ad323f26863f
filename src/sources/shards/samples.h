// The samples of a tar shard, as WebDataset has them: files of one key, an extension each.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/shards/tar.h"

namespace ddptrain {

/// A name up to the first dot behind its last '/', and what follows that dot in lower case
/// (webdataset.tariterators.base_plus_ext). Both are empty where there is no dot.
std::pair<std::string, std::string> key_and_extension(std::string_view name);

struct ShardSample {
  std::string key;
  std::vector<std::pair<std::string, const TarMember*>> columns;  // by extension, as they come

  /// Null where the sample has no such column.
  const TarMember* column(std::string_view extension) const;
};

/// Consecutive files of one key are a sample. Files without an extension, and WebDataset's own
/// ("__...__" at its end), belong to none. An Error (Exit::data) names shard and sample of which
/// two files have one extension. `members` must outlive the samples.
std::vector<ShardSample> samples_of(const std::vector<TarMember>& members,
                                    const std::string& shard);

}  // namespace ddptrain
