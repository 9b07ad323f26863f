// `data.cache` of images: what is kept of those that were decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/fields.h"

namespace ddptrain {

struct DecodedCacheSpec {
  bool decoded = false;
  Size size{std::int64_t{8} << 30};
  std::optional<std::string> folder;  // null: `images` in the user's cache folder
  void fields(Fields& f);
};

}  // namespace ddptrain
