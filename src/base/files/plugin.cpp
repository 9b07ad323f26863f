#include "base/files/plugin.h"

#include <dlfcn.h>

#include <filesystem>

namespace ddptrain {
namespace {

Plugin opened(const std::string& path, int flags) {
  Plugin plugin{dlopen(path.c_str(), flags), true, {}};
  if (plugin.handle == nullptr) plugin.why_not = dlerror();
  return plugin;
}

}  // namespace

std::string find_plugin(const std::string& file_name) {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto* place : {".", "../lib", "../lib/ddptrain"}) {
    const auto path = folder / place / file_name;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

Plugin open_plugin(const std::string& file_name, int flags) {
  if (const auto path = find_plugin(file_name); !path.empty()) return opened(path, flags);
  auto plugin = opened(file_name, flags);
  plugin.found = plugin.handle != nullptr;
  return plugin;
}

const void* returned_by(const Plugin& plugin, const char* symbol) {
  const auto entry = reinterpret_cast<const void* (*)()>(dlsym(plugin.handle, symbol));
  return entry != nullptr ? entry() : nullptr;
}

}  // namespace ddptrain
