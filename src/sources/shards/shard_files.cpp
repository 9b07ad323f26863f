#include "sources/shards/shard_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

bool by_name(const TarMember& a, const TarMember& b) { return a.name < b.name; }

[[noreturn]] void fail_missing(const std::string& path) {
  throw Error(Exit::data, "cannot read '{}': the shard has no such file", path);
}

}  // namespace

void ShardFiles::add(const std::string& shard, const ShardIndex& index) {
  Shard added{shard, index.changed, {}};
  added.members.reserve(index.members.size());
  for (const auto& each : index.members)
    added.members.push_back({each.name, each.offset, each.size, {}});
  std::sort(added.members.begin(), added.members.end(), by_name);
  shards_.insert_or_assign(shard, std::move(added));
}

ShardFiles::Found ShardFiles::find(const std::string& path) const {
  for (auto at = path.find('/'); at != path.npos; at = path.find('/', at + 1)) {
    const auto shard = shards_.find(path.substr(0, at));
    if (shard == shards_.end()) continue;
    const TarMember wanted{path.substr(at + 1)};
    const auto& all = shard->second.members;
    const auto found = std::lower_bound(all.begin(), all.end(), wanted, by_name);
    const bool is_there = found != all.end() && found->name == wanted.name;
    return {&shard->second, is_there ? &*found : nullptr};
  }
  return {};
}

FileInfo ShardFiles::info(const std::string& path) const {
  const auto found = find(path);
  if (!found.shard) return files_.info(path);
  if (!found.member) return {FileKind::none, 0, 0, "the shard has no such file"};
  return {FileKind::file, found.member->size, found.shard->changed, {}};
}

std::string ShardFiles::list(const std::string& folder, const VisitEntry& visit) const {
  const auto shard = shards_.find(folder);
  if (shard == shards_.end()) return files_.list(folder, visit);
  for (const auto& member : shard->second.members)
    visit({folder + "/" + member.name, FileKind::file});
  return {};
}

std::string ShardFiles::list_beginning(const std::string& folder, const std::string& begin,
                                       const VisitEntry& visit) const {
  return shards_.contains(folder) ? FileSystem::list_beginning(folder, begin, visit)
                                  : files_.list_beginning(folder, begin, visit);
}

std::string ShardFiles::read(const std::string& path, std::uint64_t offset,
                             std::uint64_t most) const {
  const auto found = find(path);
  if (!found.shard) return files_.read(path, offset, most);
  if (!found.member) fail_missing(path);
  const auto& member = *found.member;
  const auto wanted = std::min(most, member.size - std::min(offset, member.size));
  if (wanted == 0) return {};
  auto bytes = files_.read(found.shard->path, member.offset + offset, wanted);
  if (bytes.size() == wanted) return bytes;
  throw Error(Exit::data, "shard '{}' is cut: '{}' has {} of {} bytes", found.shard->path,
              member.name, bytes.size(), wanted);
}

MappedFile ShardFiles::map(const std::string& path) const {
  const auto found = find(path);
  if (!found.shard) return files_.map(path);
  if (!found.member) fail_missing(path);
  const auto bytes = read(path, 0, found.member->size);
  return {std::vector<std::uint8_t>(bytes.begin(), bytes.end()), path};
}

}  // namespace ddptrain
