// How files behind an address are requested, and kept on this node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/fields.h"

namespace ddptrain {

/// `data.store.cache`: files of a store on this node.
struct StoreCacheSpec {
  std::optional<std::string> folder;  // null: `fetched` in the user's cache folder
  Size limit{std::int64_t{20} << 30};
  void fields(Fields& f);
};

/// `data.store`: the service behind s3:// and gs:// addresses, what is done when it does not
/// answer, and what is kept.
struct StoreSpec {
  std::optional<std::string> endpoint;
  std::optional<std::string> region;
  std::int64_t attempts = 6;
  Duration timeout{30, Duration::Unit::seconds};
  StoreCacheSpec cache;
  void fields(Fields& f);
};

}  // namespace ddptrain
