#include "train/plugin_file.h"

#include <dlfcn.h>

#include <map>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "base/version.h"
#include "config/plugin_components.h"

namespace ddptrain {
namespace {

/// What follows the mark, up to a zero byte; nothing where there is no mark.
std::optional<std::string> versions_in(const std::string& bytes) {
  const auto at = bytes.find(kPluginMark);
  if (at == std::string::npos) return {};
  const auto begin = at + sizeof kPluginMark - 1;
  return bytes.substr(begin, std::min<std::size_t>(bytes.find('\0', begin) - begin, 100));
}

/// Before any of its code runs.
void check_versions(const std::string& path) {
  const auto versions = versions_in(read_text(path));
  if (!versions)
    throw Error(Exit::recipe, "'{}' is no plug-in; 'ddptrain plugin new' begins one", path);
  if (*versions != plugin_versions())
    throw Error(Exit::recipe, "'{}' was built for {}, and this is {}; build it again", path,
                shown(*versions), plugin_versions());
}

void check_digest_of(const PluginFile& file, const std::string& digest) {
  if (!file.sha256 || lower(*file.sha256) == digest) return;
  throw Error(Exit::recipe,
              "sha256 of '{}' is {}, and the recipe wants {}: the file has changed since",
              file.path, digest, *file.sha256);
}

void add_components(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(Exit::recipe, "a plug-in cannot be loaded: {}", ::dlerror());
  const auto add = reinterpret_cast<void (*)(PluginComponents&)>(::dlsym(library, kPluginFunction));
  if (!add) throw Error(Exit::recipe, "'{}' has no DDPTRAIN_PLUGIN", path);
  PluginComponents components;
  add(components);
}

}  // namespace

void open_plugin_file(const PluginFile& file) try {
  static std::map<std::string, std::string> open;  // path to digest
  const auto digest = digest_file(DigestKind::sha256, file.path);
  check_digest_of(file, digest);
  if (const auto found = open.find(file.path); found != open.end()) {
    if (found->second == digest) return;
    throw Error(Exit::recipe, "'{}' has changed since it was opened", file.path);
  }
  check_versions(file.path);
  add_components(file.path);
  open.emplace(file.path, digest);
} catch (const Error& error) {
  throw Error(Exit::recipe, error.message());  // of a file that cannot be read, too
}

}  // namespace ddptrain
