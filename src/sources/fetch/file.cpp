#include "sources/fetch/file.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "sources/fetch/fetch.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Writes the source to `download`.
void download_or_copy(const FileSource& source, const std::string& download) {
  if (!source.file) {
    log::info("fetching {}", shown_url(source.url));
    return fetch(source.url, download);
  }
  fetch_copy(*source.file, download);
}

}  // namespace

bool is_digest(const std::string& digest, std::string_view known) {
  return known.size() >= 8 && digest.starts_with(lower(std::string(known)));
}

bool provide_file(const FileSource& source, const std::string& path) {
  const auto target = fs::absolute(path).lexically_normal();
  if (fs::exists(target)) return false;
  const auto sibling = [&](const std::string& what) {
    return (target.parent_path() / ("." + target.filename().string() + what)).string();
  };
  make_folders(target.parent_path().string());
  const FileLock lock(sibling(".lock"));
  if (fs::exists(target)) return false;  // another process was first
  const auto download = sibling(".download");
  download_or_copy(source, download);
  const auto digest = digest_file(DigestKind::sha256, download);
  if (!is_digest(digest, source.sha256)) {
    fs::remove(download);  // so that the next attempt does not continue it
    throw Error(Exit::data, "sha256 of '{}' is {}, and should {}{}",
                source.file.value_or(source.url), digest,
                source.sha256.size() < 64 ? "begin with " : "be ", source.sha256);
  }
  write_atomically(target.string() + ".sha256", digest + "  " + target.filename().string() + "\n");
  fs::permissions(download, fs::perms::group_read | fs::perms::others_read, fs::perm_options::add);
  fs::rename(download, target);
  sync_folder(target.parent_path().string());
  return true;
}

}  // namespace ddptrain
