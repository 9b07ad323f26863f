#include "checkpoint/new_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* temporary_prefix = ".tmp-";

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

std::string temporary_folder(const std::string& root, const std::string& name) {
  return root + "/" + temporary_prefix + name;
}

NewFolder::NewFolder(const std::string& root, const std::string& name)
    : path_(temporary_folder(root, name)) {
  if (::mkdir(path_.c_str(), 0777) != 0) fail("make the folder", path_);
}

NewFolder::~NewFolder() {
  if (!path_.empty()) remove_quietly(path_);
}

void NewFolder::fail(const std::string& what, const std::string& path) {
  throw Error(Exit::data, "cannot {} '{}': {}", what, path, std::strerror(errno));
}

bool NewFolder::exchange_with(const std::string& place) {
  sync_folder(path_);
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0)
    return false;
  sync_folder(fs::path(place).parent_path());
  return true;
}

void NewFolder::put_at(const std::string& place) {
  sync_folder(path_);
  if (::rename(path_.c_str(), place.c_str()) != 0) fail("write", place);
  path_.clear();
  sync_folder(fs::path(place).parent_path());
}

void remove_leftovers(const std::string& root) {
  std::error_code none;
  std::vector<std::string> leftovers;
  for (const auto& entry : fs::directory_iterator(root, none))
    if (entry.path().filename().string().starts_with(temporary_prefix))
      leftovers.push_back(entry.path());
  for (const auto& path : leftovers) remove_quietly(path);
}

namespace {

std::error_code hide_and_remove(const std::string& root, const std::string& name) {
  const auto hidden = fmt::format("{}/{}old-{}", root, temporary_prefix, name);
  std::error_code code;
  fs::rename(root + "/" + name, hidden, code);
  if (!code) fs::remove_all(hidden, code);
  return code;
}

}  // namespace

void discard_quietly(const std::string& root, const std::string& name) {
  hide_and_remove(root, name);
}

void discard(const std::string& root, const std::string& name) {
  if (const auto code = hide_and_remove(root, name))
    log::warning("cannot delete the old checkpoint '{}/{}': {}", root, name, code.message());
}

}  // namespace ddptrain
