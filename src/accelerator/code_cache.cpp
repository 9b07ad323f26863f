#include "accelerator/code_cache.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"

namespace ddptrain {
namespace {

// The digest of what follows, as text, stands before it.
constexpr std::size_t kDigest = 64;

std::string intact_code(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const auto all = read_text(path);
  if (all.size() <= kDigest || sha256(all.substr(kDigest)) != all.substr(0, kDigest)) return {};
  return all.substr(kDigest);
}

}  // namespace

std::string cached_code(const std::string& description,
                        const std::function<std::string()>& compile) {
  const auto folder = cache_folder() + "/kernels";
  const auto path = folder + "/" + sha256(description) + ".code";
  try {
    if (auto kept = intact_code(path); !kept.empty()) return kept;
  } catch (const Error& error) {
    log::debug(std::string("a compiled kernel is not used: ") + error.what());
  }
  auto made = compile();
  try {
    make_folders(folder);
    write_atomically(path, sha256(made) + made);
  } catch (const Error& error) {
    log::debug(std::string("a compiled kernel is not kept: ") + error.what());
  }
  return made;
}

}  // namespace ddptrain
