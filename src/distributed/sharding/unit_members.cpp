#include "distributed/sharding/unit_members.h"

#include <unordered_map>

namespace ddptrain {

std::vector<std::vector<std::size_t>> members_of(const std::vector<const Module*>& blocks,
                                                 const std::vector<NamedTensor>& parameters) {
  std::unordered_map<const at::TensorImpl*, std::size_t> place;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    place.emplace(parameters[i].tensor.unsafeGetTensorImpl(), i);
  std::vector<std::vector<std::size_t>> members;
  std::vector<bool> taken(parameters.size(), false);
  for (const auto* block : blocks) {
    auto& own = members.emplace_back();
    for (const auto& named : block->named_parameters()) {
      const auto i = place.at(named.tensor.unsafeGetTensorImpl());
      if (!taken[i]) own.push_back(i);
      taken[i] = true;
    }
  }
  auto& others = members.emplace_back();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!taken[i]) others.push_back(i);
  return members;
}

}  // namespace ddptrain
