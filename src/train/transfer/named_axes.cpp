#include "train/transfer/named_axes.h"

#include <map>

#include "base/text.h"
#include "models/model.h"

namespace ddptrain {
namespace {

std::string layer_of(const NamedTensor& parameter) {
  return parameter.name.substr(0, parameter.name.rfind('.'));
}

}  // namespace

std::vector<std::string> output_layers(Model& model, const EntryBase& entry) {
  std::map<std::string, const Module*> modules;
  for (const auto& [name, module] : model.modules()) modules.emplace(name, module);
  std::vector<std::string> layers;
  if (const auto named = trait_argument(entry, "outputs")) {
    for (const auto& name : split(*named, ' '))
      if (modules.contains(name)) layers.push_back(name);
    return layers;
  }
  const auto parameters = model.named_parameters();
  for (auto at = parameters.rbegin(); at != parameters.rend(); ++at) {
    const auto layer = layer_of(*at);
    if (!layers.empty() && layers.back() == layer) continue;
    if (!layers.empty()) {
      const auto last = modules.find(layers.back());
      if (last == modules.end() || !last->second->is_norm()) break;
    }
    layers.push_back(layer);
  }
  return layers;
}

std::vector<FeatureAxis> feature_axes(const Model& model, const EntryBase& entry,
                                      const FeatureCounts& counts) {
  std::vector<FeatureAxis> axes;
  const auto trait = trait_argument(entry, "features");
  if (!trait) return axes;
  const auto layers = split(*trait, ' ');
  bool linear = false;
  for (const auto& [name, tensor] : model.state()) {
    if (name.starts_with(layers.at(1) + ".") && tensor.dim() == 1 &&
        tensor.size(0) == counts.numbers)
      axes.push_back({name, 0, true});
    if (layers.size() > 2 && name.starts_with(layers[2] + ".") && tensor.dim() == 2)
      axes.push_back({name, 1, false});
    if (!name.starts_with(layers.at(0) + ".") || linear) continue;
    if (tensor.dim() == 1 && tensor.size(0) == counts.all) axes.push_back({name, 0, false});
    linear = tensor.dim() == 2;
    if (linear) axes.push_back({name, 1, false});
  }
  return axes;
}

}  // namespace ddptrain
