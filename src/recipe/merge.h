// One layer over another.
#pragma once

#include <string>

#include "config/node.h"

namespace ddptrain {

/// Maps merge deeply, everything else replaces. A stronger map with another `type` replaces too; a
/// stronger map of options without `type` completes a component that the weaker layer gave as a
/// bare word. `path` is the dotted key of both ("data.sampler").
void merge(Node& weak, const Node& strong, const std::string& path = "");

}  // namespace ddptrain
