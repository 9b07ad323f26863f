// A file with components that are not ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/fields.h"

namespace ddptrain {

/// An item of `plugins`: a shared library, named, never searched for. A run's record has its
/// digest, which a resumed run compares.
struct PluginSpec {
  std::string file;
  std::optional<std::string> sha256;
  static constexpr std::string_view shorthand = "file";
  void fields(Fields& f);
};

}  // namespace ddptrain
