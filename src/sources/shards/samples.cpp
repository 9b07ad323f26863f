#include "sources/shards/samples.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// webdataset.tariterators.meta_prefix and meta_suffix.
bool is_meta(std::string_view name) { return name.starts_with("__") && name.ends_with("__"); }

}  // namespace

std::pair<std::string, std::string> key_and_extension(std::string_view name) {
  const auto slash = name.rfind('/');
  const auto first = slash == name.npos ? 0 : slash + 1;
  const auto dot = name.find('.', first);
  if (dot == name.npos || dot == first) return {};
  return {std::string(name.substr(0, dot)), lower(std::string(name.substr(dot + 1)))};
}

const TarMember* ShardSample::column(std::string_view extension) const {
  for (const auto& [name, member] : columns)
    if (name == extension) return member;
  return nullptr;
}

std::vector<ShardSample> samples_of(const std::vector<TarMember>& members,
                                    const std::string& shard) {
  std::vector<ShardSample> samples;
  for (const auto& member : members) {
    if (is_meta(member.name)) continue;
    auto [key, extension] = key_and_extension(member.name);
    if (key.empty()) continue;
    if (samples.empty() || samples.back().key != key) samples.push_back({std::move(key), {}});
    auto& sample = samples.back();
    if (sample.column(extension) != nullptr)
      throw Error(Exit::data, "shard '{}': sample '{}' has two files .{}", shard, shown(sample.key),
                  shown(extension));
    sample.columns.emplace_back(std::move(extension), &member);
  }
  return samples;
}

}  // namespace ddptrain
