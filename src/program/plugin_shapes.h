// Plug-ins as checks see them, without LibTorch.
#pragma once

#include "config/catalog.h"

namespace ddptrain {

class Components;  // cli/documents/components.h

/// Adds the components of a plug-in by lib*.json next to lib*.so, which `plugin shapes` writes. An
/// Error (Exit::recipe) where that is missing, or of other versions.
void add_plugin_shapes(Components& components, const PluginFile& file);

}  // namespace ddptrain
