// Where files behind an address are, and how they are asked for and kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/fields.h"

namespace ddptrain {

/// `data.store`: the service behind s3:// addresses, and what is done when it does not answer.
struct StoreOptions {
  std::optional<std::string> endpoint;
  std::optional<std::string> region;
  std::int64_t attempts = 6;
  Duration timeout{30, Duration::Unit::seconds};
  void fields(Fields& f);
};

/// `data.cache`: shards of a store on this node.
struct ShardCacheOptions {
  std::optional<std::string> folder;  // null: shards in the user's cache folder
  Size limit{std::int64_t{20} << 30};
  void fields(Fields& f);
  std::string place() const;
};

}  // namespace ddptrain
