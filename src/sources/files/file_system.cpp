#include "sources/files/file_system.h"

#include "base/error.h"
#include "base/files/digest.h"
#include "base/text.h"

namespace ddptrain {
namespace {

using VisitAll = std::function<bool(const FileEntry&)>;

/// Returns why a folder cannot be read; empty: all were.
std::string walk_in(const FileSystem& files, const std::string& folder, const VisitAll& visit) {
  std::string why_inner;
  const auto why = files.list(folder, [&](const FileEntry& entry) {
    if (!why_inner.empty()) return;
    const bool enter = visit(entry) && entry.kind == FileKind::folder && !entry.is_link;
    if (enter) why_inner = walk_in(files, entry.path, visit);
  });
  return why.empty() ? why_inner : why;
}

}  // namespace

std::string FileSystem::list_beginning(const std::string& folder, const std::string& begin,
                                       const VisitEntry& visit) const {
  return list(folder, [&](const FileEntry& entry) {
    const auto name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
    if (name.starts_with(begin)) visit(entry);
  });
}

bool is_folder(const FileSystem& files, const std::string& path) {
  return files.info(path).kind == FileKind::folder;
}

std::string read_text(const FileSystem& files, const std::string& path, std::size_t most) {
  auto content = files.read(path, 0, most + 1);
  if (content.size() <= most) return content;
  throw Error(Exit::data, "cannot read '{}': it has more than {}", path,
              format_bytes(static_cast<std::int64_t>(most)));
}

void walk(const FileSystem& files, const std::string& folder,
          const std::function<bool(const FileEntry&)>& visit) {
  const auto why = walk_in(files, folder, visit);
  if (!why.empty()) throw Error(Exit::data, "cannot read folder '{}': {}", folder, why);
}

std::string digest_of(const FileSystem& files, const std::string& path) {
  constexpr std::uint64_t piece = 1 << 24;
  Digest digest(DigestKind::sha256);
  for (std::uint64_t at = 0;; at += piece) {
    const auto bytes = files.read(path, at, piece);
    digest.add(bytes);
    if (bytes.size() < piece) return digest.finish();
  }
}

}  // namespace ddptrain
