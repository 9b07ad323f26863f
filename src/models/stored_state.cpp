#include "models/stored_state.h"

#include <ATen/ops/equal.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"

namespace ddptrain {
namespace {

/// The first name of each tensor by its further ones.
std::map<std::string, std::string> aliases_of(const std::vector<NamedTensor>& state) {
  std::map<const void*, std::string> first;
  std::map<std::string, std::string> aliases;
  for (const auto& [name, tensor] : state) {
    const auto [found, is_new] = first.emplace(tensor.unsafeGetTensorImpl(), name);
    if (!is_new) aliases.emplace(name, found->second);
  }
  return aliases;
}

}  // namespace

std::vector<NamedTensor> without_aliases(const std::vector<NamedTensor>& state) {
  const auto aliases = aliases_of(state);
  std::vector<NamedTensor> all;
  for (const auto& named : state)
    if (!aliases.contains(named.name)) all.push_back(named);
  return all;
}

std::vector<NamedTensor> stored_state(const Model& model) {
  const auto head = model.projection().weight;
  std::vector<NamedTensor> all;
  bool is_there = false;
  for (const auto& named : model.state()) {
    const bool is_head = head.defined() && named.tensor.is_same(head);
    if (is_head && is_there) continue;
    is_there = is_there || is_head;
    all.push_back(named);
  }
  return all;
}

void join_aliases(std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& state) {
  for (const auto& [alias, first] : aliases_of(state)) {
    const auto find = [&](const std::string& name) {
      return std::find_if(tensors.begin(), tensors.end(),
                          [&](const auto& named) { return named.name == name; });
    };
    const auto copy = find(alias);
    if (copy == tensors.end()) continue;
    const auto own = find(first);
    if (own == tensors.end()) {
      copy->name = first;
      continue;
    }
    if (own->tensor.sizes() != copy->tensor.sizes() || !at::equal(own->tensor, copy->tensor))
      throw Error(Exit::data, "'{}' and '{}' differ in the file, and are one tensor in the model",
                  alias, first);
    tensors.erase(copy);
  }
}

}  // namespace ddptrain
