// Plug-ins with components: opened once a process, before anything is built.
#pragma once

#include "config/catalog.h"

namespace ddptrain {

/// Reads which versions the file was built for, and its digest, before any of its code runs; then
/// opens it and lets it add its components to the catalogs. A file that is open stays so, and adds
/// nothing again. An Error (Exit::recipe) says what is wrong with the file.
void open_plugin_file(const PluginFile& file);

}  // namespace ddptrain
