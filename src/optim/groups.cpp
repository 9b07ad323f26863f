// Parameters to groups: which of them decay.
#include "optim/groups.h"

#include <fnmatch.h>

#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

std::set<std::string> norm_parameters(Module& model) {
  std::set<std::string> names;
  for (const auto& [path, module] : model.modules()) {
    if (!module->is_norm()) continue;
    for (const auto& parameter : module->named_parameters())
      names.insert(path.empty() ? parameter.name : path + "." + parameter.name);
  }
  return names;
}

bool is_bias(const std::string& name) { return name == "bias" || name.ends_with(".bias"); }

std::set<std::string> matching(const std::vector<NamedTensor>& parameters,
                               const std::string& pattern) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : parameters)
    if (pattern == "bias" ? is_bias(name) : fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
      names.insert(name);
  if (names.empty() && pattern != "bias")
    throw Error(Exit::recipe, "optimizer.no_decay: '" + pattern +
                                  "' matches no parameter; the first is called '" +
                                  (parameters.empty() ? "" : parameters.front().name) + "'");
  return names;
}

}  // namespace

std::vector<ParameterGroup> group_parameters(Module& model,
                                             const std::vector<std::string>& no_decay) {
  const auto parameters = model.named_parameters();
  std::set<std::string> exempt;
  for (const auto& pattern : no_decay)
    exempt.merge(pattern == "norm" ? norm_parameters(model) : matching(parameters, pattern));

  ParameterGroup decaying, others;
  decaying.name = "decay";
  others.name = "no_decay";
  others.decay_scale = 0;
  std::set<const void*> seen;  // a tensor with two names is one parameter, known by the first
  for (const auto& parameter : parameters)
    if (seen.insert(parameter.tensor.unsafeGetTensorImpl()).second)
      (exempt.contains(parameter.name) ? others : decaying).parameters.push_back(parameter);

  std::vector<ParameterGroup> groups;
  for (auto* group : {&decaying, &others})
    if (!group->parameters.empty()) groups.push_back(std::move(*group));
  return groups;
}

}  // namespace ddptrain
