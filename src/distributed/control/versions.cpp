#include "distributed/control/versions.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/random.h"
#include "distributed/group.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostVersions = 8;

std::int64_t digest_of(std::string_view text) { return static_cast<std::int64_t>(hash_text(text)); }

/// Whether the digests below this member in the tree, and its own, are the same. That of member 0
/// holds for all.
bool compare_up(Group& group, std::int64_t digest) {
  bool equal = true;
  const int rank = group.rank();
  for (int distance = 1; distance < group.size(); distance *= 2) {
    if (rank & distance) {
      group.send(at::tensor({digest, std::int64_t{equal}}, at::kLong), rank - distance);
      break;
    }
    if (rank + distance >= group.size()) continue;
    auto other = at::tensor({std::int64_t{0}, std::int64_t{0}}, at::kLong);
    group.receive(other, rank + distance);
    equal = equal && other[0].item<std::int64_t>() == digest && other[1].item<bool>();
  }
  return equal;
}

}  // namespace

bool all_equal(Group& group, std::string_view text) {
  if (group.size() == 1) return true;
  auto answer = at::scalar_tensor(std::int64_t{compare_up(group, digest_of(text))}, at::kLong);
  group.broadcast(answer, 0);
  return answer.item<bool>();
}

std::vector<Version> versions_of(Group& group, const std::string& text) {
  std::vector<std::pair<std::int64_t, Version>> found;
  const auto all = group.all_gather(at::scalar_tensor(digest_of(text), at::kLong));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto digest = all[rank].item<std::int64_t>();
    auto same = std::find_if(found.begin(), found.end(),
                             [&](const auto& version) { return version.first == digest; });
    if (same == found.end()) {
      if (found.size() == kMostVersions) continue;
      same = found.insert(found.end(), {digest, {}});
    }
    same->second.ranks.push_back(static_cast<int>(rank));
  }
  std::vector<Version> versions;
  for (auto& [digest, version] : found) {
    version.text = broadcast_text(group, text, version.ranks.front());
    versions.push_back(std::move(version));
  }
  return versions;
}

}  // namespace ddptrain
