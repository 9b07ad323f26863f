// What the author of a plug-in includes: its components join the catalogs, and recipes that name
// the plug-in's file under `plugins` then name them like built-in ones (docs/plugins.md).
#pragma once

#include <utility>

#include "config/catalog.h"

namespace ddptrain {

/// An Error (Exit::recipe) where the component of a plug-in has a trait that no component of its
/// kind has: no rule looks it up.
void require_known_traits(const EntryBase& added, const CatalogBase& catalog);

/// Where a plug-in's components go.
class PluginComponents {
 public:
  /// An Error (Exit::recipe) where there is a component of that kind and name, or where one of the
  /// traits does not exist.
  template <class T>
  void add(Entry<T> component) {
    require_known_traits(component, catalog<T>());
    catalog<T>().add(std::move(component));
  }
};

/// What precedes the versions in a plug-in's file, so that they are read before any of its code
/// runs: those of ddptrain and LibTorch, "ddptrain 0.1.0, LibTorch 2.11.0".
inline constexpr char kPluginMark[] = "ddptrain-plug-in: ";

/// The function of a plug-in that adds its components.
inline constexpr const char* kPluginFunction = "ddptrain_plugin_add";

}  // namespace ddptrain

/// Once in a plug-in: DDPTRAIN_PLUGIN(components) { components.add(entry<Loss, ...>(...)); }
#define DDPTRAIN_PLUGIN(components)                                                                \
  extern "C" {                                                                                     \
  [[gnu::used, gnu::visibility("default")]] extern const char ddptrain_plugin_interface[] =        \
      "ddptrain-plug-in: " DDPTRAIN_PLUGIN_VERSIONS;                                               \
  [[gnu::visibility("default")]] void ddptrain_plugin_add(ddptrain::PluginComponents& components); \
  }                                                                                                \
  void ddptrain_plugin_add(ddptrain::PluginComponents& components)
