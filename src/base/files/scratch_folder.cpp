#include "base/files/scratch_folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRandom = "XXXXXX";
constexpr const char* kProgram = "ddptrain-";  // how names begin in the folder for temporary files

fs::path temporary_folder() {
  std::error_code code;
  const auto folder = fs::temp_directory_path(code);
  if (code) throw Error(Exit::data, "no folder for temporary files: {} (TMPDIR)", code.message());
  return folder;
}

/// Locks may hold on one machine only, so its name is in that of the file.
fs::path lock_in(const fs::path& folder) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return folder / (std::string(".lock.") + host);
}

/// Null on a file system without locks.
std::unique_ptr<FileLock> locked(const fs::path& folder, FileLock::Wait wait) {
  try {
    return std::make_unique<FileLock>(lock_in(folder).string(), wait);
  } catch (const Error&) {
    return nullptr;
  }
}

bool is_own_folder(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         about.st_uid == ::geteuid();
}

enum class Ends { random, any };

/// Removes scratch folders of this start whose processes were killed. Others have no lock file.
void remove_abandoned(const fs::path& start, Ends ends) {
  const auto prefix = start.filename().string();
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator at(start.parent_path(), ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    const auto name = at->path().filename().string();
    const bool fits = ends == Ends::any || name.size() == prefix.size() + kRandom.size();
    if (fits && name.starts_with(prefix)) found.push_back(at->path());
  }
  for (const auto& folder : found) {
    if (!is_own_folder(folder) || !fs::exists(lock_in(folder), ignored)) continue;
    const auto lock = locked(folder, FileLock::Wait::not_at_all);
    if (lock && lock->held()) fs::remove_all(folder, ignored);
  }
}

std::string made_folder(const std::string& start, bool placed) {
  auto path = start + std::string(kRandom);
  if (::mkdtemp(path.data())) return path;
  const std::string reason = std::strerror(errno);
  throw Error(Exit::data, "cannot make a folder in '{}': {}{}",
              fs::path(path).parent_path().string(), reason, placed ? "" : " (TMPDIR)");
}

}  // namespace

void remove_abandoned_folders() noexcept {
  try {
    remove_abandoned(temporary_folder() / kProgram, Ends::any);
  } catch (const std::exception&) {
    // The caller that needs the folder for temporary files reports what is wrong with it.
  }
}

ScratchFolder::ScratchFolder(const std::string& start) {
  const bool placed = fs::path(start).is_absolute();
  const auto full = placed ? fs::path(start) : temporary_folder() / start;
  remove_abandoned(full, Ends::random);
  // Another process may take the folder for an abandoned one until its lock is held.
  do {
    path_ = made_folder(full.string(), placed);
    lock_ = locked(path_, FileLock::Wait::until_free);
  } while (!fs::exists(path_));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ddptrain
