#include "sources/fetch/source.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/output/log.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/url.h"
#include "config/decode.h"
#include "sources/brace_pattern.h"
#include "sources/fetch/fetch.h"
#include "sources/fetch/unpack.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& root) {
  std::error_code error;
  return fs::exists(root, error) && !(fs::is_directory(root, error) && fs::is_empty(root, error));
}

void compare(DigestKind kind, const std::string& path, const std::string& wanted) {
  const auto found = digest_file(kind, path);
  if (found == lower(wanted)) return;
  const std::string name = kind == DigestKind::md5 ? "md5" : "sha256";
  throw Error(Exit::data, Option{"data.source." + name}, "{} of '{}' is {}, and the recipe says {}",
              name, path, found, wanted);
}

void check_digest(const SourceSpec& source, const std::string& archive) {
  if (source.sha256) compare(DigestKind::sha256, archive, *source.sha256);
  if (source.md5) compare(DigestKind::md5, archive, *source.md5);
}

void check_size(const SourceSpec& source, const std::string& archive) {
  const auto found = InputFile(archive).size();
  if (!source.size || found == static_cast<std::uint64_t>(source.size->bytes)) return;
  throw Error(Exit::data, Option{"data.source.size"}, "'{}' has {} bytes, and the recipe says {}",
              archive, found, source.size->bytes);
}

void check_archive(const SourceSpec& source, const std::string& archive) {
  check_size(source, archive);
  check_digest(source, archive);
}

/// Before anything is fetched: what is there of `download` already has its space.
void check_space(const SourceSpec& source, const std::string& download) {
  std::error_code none;
  const auto space = free_space(fs::path(download).parent_path().string());
  if (!source.size || !space.unknown.empty()) return;
  const auto begun = fs::file_size(download, none);
  const auto there = static_cast<std::uint64_t>(space.bytes) + (none ? 0 : begun);
  if (static_cast<std::uint64_t>(source.size->bytes) <= there) return;
  throw Error(Exit::data,
              "no space to fetch '{}' into '{}': it has {}, {} are free; delete something, or put "
              "the data elsewhere",
              shown_url(*source.url), fs::path(download).parent_path().string(),
              format_bytes(source.size->bytes), format_bytes(space.bytes));
}

/// The archive as a file whose size and digest are right.
std::string checked_archive(const SourceSpec& source, const std::string& download) {
  if (source.file) {
    check_archive(source, *source.file);
    return *source.file;
  }
  check_space(source, download);
  log::info("fetching {}", shown_url(*source.url));
  fetch(*source.url, download, source.size ? source.size->bytes : most_fetched);
  try {
    check_archive(source, download);
  } catch (const Error&) {
    fs::remove(download);  // so that the next attempt does not continue it
    throw;
  }
  log::info("fetched {}", format_bytes(static_cast<std::int64_t>(fs::file_size(download))));
  return download;
}

/// To be called under the data's lock: removes folders of this start, which an attempt that was
/// killed left.
void remove_left(const std::string& start) {
  const fs::path before = start;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(before.parent_path()))
    if (entry.path().filename().string().starts_with(before.filename().string()))
      left.push_back(entry.path());
  std::error_code kept;
  for (const auto& each : left) fs::remove_all(each, kept);
}

/// The folder that a section's source becomes.
std::string root_of(const Choice<Dataset>& data) {
  const auto text_of = [&](const char* key) {
    const auto* value = data.node().find(key);
    return value && value->is_scalar() ? value->text : std::string();
  };
  const auto root = text_of("root");
  return root.empty() ? fs::path(text_of("file")).parent_path().string() : root;
}

/// Where a first run often ends: without a source, the data has to be there.
void check_there(const Choice<Dataset>& data) {
  for (const char* option : {"root", "file"}) {
    const auto* value = data.node().find(option);
    std::error_code unknown;
    if (!value || !value->is_scalar() || value->is_null() || fs::exists(value->text, unknown))
      continue;
    if (!url_scheme(value->text).empty()) continue;  // of a store, which is asked when it is read
    if (has_braces(value->text)) continue;           // of several files, each of which is opened
    throw Error(Exit::data, Option{std::string("data.") + option},
                "'{}' is not there; put the data there, write where they are, or name an archive "
                "under data.source",
                value->text)
        .at(value->place);
  }
}

}  // namespace

bool is_provided(const Choice<Dataset>& data) {
  const auto* source = data.node().find("source");
  return !source || source->is_null() || is_there(root_of(data));
}

void provide(const Choice<Dataset>& data) {
  const auto* source = data.node().find("source");
  if (!source || source->is_null()) return check_there(data);
  provide(decode<SourceSpec>(*source), root_of(data));
}

void provide(const SourceSpec& source, const std::string& root) {
  DDP_CHECK(source.url.has_value() != source.file.has_value(), "a source is one archive");
  DDP_CHECK(source.md5 || source.sha256, "a source has a digest");
  const auto path = fs::absolute(root).lexically_normal();
  const auto target = path.has_filename() ? path : path.parent_path();
  if (is_there(target)) return;
  const auto sibling = [&](const std::string& what) {
    return (target.parent_path() / ("." + target.filename().string() + what)).string();
  };
  make_folders(target.parent_path().string());
  const FileLock lock(sibling(".lock"));
  if (is_there(target)) return;  // another process was first
  const auto download = sibling(".download");
  const auto archive = checked_archive(source, download);
  const auto start = fs::absolute(sibling(".unpacked-")).string();
  remove_left(start);
  const ScratchFolder folder(start);
  const auto unpacked = folder.path() + "/data";  // with the rights that folders have here
  make_folders(unpacked);
  fs::rename(unpack(archive, unpacked), target);
  sync_folder(target.parent_path().string());
  if (source.url) fs::remove(download);
  log::info("unpacked into {}", target.string());
}

}  // namespace ddptrain
