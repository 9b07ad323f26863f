#include "base/files/link.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/files/temporary_name.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code move_into_place(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  const auto error = last_error();
  ::unlink(from.c_str());
  return error;
}

}  // namespace

std::error_code replace_link(const std::string& link, const std::string& target) {
  const fs::path place(link);
  const auto hidden = (place.parent_path() / (".tmp-" + place.filename().string())).string();
  while (true) {
    const auto temporary = temporary_name(hidden);
    if (::symlink(target.c_str(), temporary.c_str()) == 0) return move_into_place(temporary, link);
    if (errno != EEXIST) return last_error();
  }
}

}  // namespace ddptrain
