#include "distributed/sharding/unit_members.h"

#include <unordered_map>
#include <unordered_set>

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

std::vector<bool> cast_parameters(Module& model, const std::vector<NamedTensor>& parameters) {
  std::unordered_set<const at::TensorImpl*> cast;
  for (const auto& [path, module] : model.modules())
    for (const auto& parameter : module->autocast_parameters())
      if (parameter.defined()) cast.insert(parameter.unsafeGetTensorImpl());
  std::vector<bool> is_cast;
  for (const auto& named : parameters)
    is_cast.push_back(cast.contains(named.tensor.unsafeGetTensorImpl()));
  return is_cast;
}

}  // namespace ddptrain
