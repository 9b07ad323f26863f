// Parameters to groups: which of them decay, and which move at which rate.
#include "optim/groups.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

bool is_bias(const std::string& name) { return name == "bias" || name.ends_with(".bias"); }

std::set<std::string> matching(const std::vector<NamedTensor>& parameters,
                               const std::string& pattern) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : parameters)
    if (pattern == "bias" ? is_bias(name) : fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
      names.insert(name);
  if (names.empty() && pattern != "bias")
    throw Error(Exit::recipe, Option{"optimizer.no_decay"},
                "'{}' matches no parameter; the first is called '{}'", pattern,
                parameters.empty() ? "" : parameters.front().name);
  return names;
}

}  // namespace

std::vector<ParameterGroup> group_parameters(Module& model,
                                             const std::vector<std::string>& no_decay,
                                             const LayerGroups& layers) {
  const auto parameters = model.named_parameters();
  std::set<std::string> exempt;
  for (const auto& pattern : no_decay)
    exempt.merge(pattern == "norm" ? norm_parameters(model) : matching(parameters, pattern));

  std::vector<ParameterGroup> groups;
  std::map<std::string, std::size_t> layer_of;
  for (std::size_t layer = 0; layer < std::max<std::size_t>(1, layers.size()); ++layer) {
    groups.push_back({"decay", {}, 1, 1, layer});
    groups.push_back({"no_decay", {}, 1, 0, layer});
    if (layer < layers.size())
      for (const auto& name : layers[layer]) layer_of[name] = layer;
  }
  for (const auto& parameter : parameters) {
    const auto layer = layers.empty() ? 0 : layer_of.at(parameter.name);
    groups[2 * layer + exempt.contains(parameter.name)].parameters.push_back(parameter);
  }
  std::erase_if(groups, [](const ParameterGroup& group) { return group.parameters.empty(); });
  return groups;
}

}  // namespace ddptrain
