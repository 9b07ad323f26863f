#include "models/layer_groups.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

std::vector<std::string> parameter_names(const Module& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model.named_parameters()) names.push_back(name);
  return names;
}

std::string first_part(const std::string& name) { return name.substr(0, name.find('.')); }

LayerGroups body_and_head(const std::vector<std::string>& names) {
  LayerGroups groups(1);
  for (const auto& name : names) {
    const bool head = first_part(name) == first_part(names.back());
    if (head && groups.size() == 1 && !groups[0].empty()) groups.emplace_back();
    groups[head ? groups.size() - 1 : 0].push_back(name);
  }
  return groups;
}

LayerGroups of_modules(const std::vector<std::vector<Module*>>& parts,
                       const std::vector<std::string>& names) {
  const std::set<std::string> known(names.begin(), names.end());
  LayerGroups groups;
  std::size_t found = 0;
  for (const auto& part : parts) {
    auto& group = groups.emplace_back();
    for (const auto* module : part)
      for (const auto& [name, tensor] : module->named_parameters()) {
        const auto path = module->path();
        const auto whole = path.empty() ? name : path + "." + name;
        if (known.contains(whole)) group.push_back(whole);
      }
    found += group.size();
  }
  DDP_CHECK(found == names.size(), "the layer groups of a model hold each parameter once");
  return groups;
}

LayerGroups of_patterns(const std::vector<std::vector<std::string>>& patterns,
                        const std::vector<std::string>& names) {
  LayerGroups groups(patterns.size());
  std::set<std::string> used;
  for (const auto& name : names) {
    bool taken = false;
    for (std::size_t g = 0; g < patterns.size() && !taken; ++g)
      for (const auto& pattern : patterns[g]) {
        if (taken || fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
        groups[g].push_back(name);
        used.insert(pattern);
        taken = true;
      }
    if (!taken)
      throw Error(Exit::recipe, Option{"model.layer_groups"}, "'{}' is in none of the groups",
                  name);
  }
  for (const auto& group : patterns)
    for (const auto& pattern : group)
      if (!used.contains(pattern))
        throw Error(
            Exit::recipe, Option{"model.layer_groups"},
            "'{}' matches no parameter that an earlier pattern has left; the first is called '{}'",
            pattern, names.front());
  return groups;
}

}  // namespace

std::set<std::string> norm_parameters(Module& model) {
  std::set<std::string> names;
  for (const auto& [path, module] : model.modules())
    if (module->is_norm())
      for (const auto& [name, tensor] : module->named_parameters())
        names.insert(path.empty() ? name : path + "." + name);
  return names;
}

LayerGroups layer_groups(Model& model, const std::vector<std::vector<std::string>>& patterns) {
  const auto names = parameter_names(model);
  if (!patterns.empty()) return of_patterns(patterns, names);
  const auto parts = model.layer_groups();
  return parts.empty() ? body_and_head(names) : of_modules(parts, names);
}

Frozen frozen_before(Model& model, const LayerGroups& groups, std::int64_t freeze_to,
                     bool train_norms) {
  const auto count = static_cast<std::int64_t>(groups.size());
  const auto first = freeze_to < 0 ? count + freeze_to : freeze_to;
  if (first < 0 || first >= count)
    throw Error(Exit::recipe, Option{"freeze_to"}, "{}, and the model has {}", freeze_to,
                plural(count, "layer group"));
  const auto norms = train_norms ? norm_parameters(model) : std::set<std::string>{};
  Frozen frozen;
  for (std::int64_t g = 0; g < first; ++g)
    for (const auto& name : groups[static_cast<std::size_t>(g)])
      if (!norms.contains(name)) frozen.parameters.push_back(name);
  return frozen;
}

void freeze(Model& model, const Frozen& frozen) {
  const std::set<std::string> rest(frozen.parameters.begin(), frozen.parameters.end());
  for (const auto& [name, tensor] : model.named_parameters())
    at::Tensor(tensor).set_requires_grad(!rest.contains(name));
  for (const auto& [path, module] : model.modules()) {
    const auto own = module->is_norm() ? module->named_parameters() : std::vector<NamedTensor>{};
    const bool still = std::none_of(own.begin(), own.end(),
                                    [](const auto& p) { return p.tensor.requires_grad(); });
    module->keep_statistics(frozen.statistics && !own.empty() && still);
  }
}

}  // namespace ddptrain
