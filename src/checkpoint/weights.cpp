#include "checkpoint/weights.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/torch_file.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

bool is_below(const std::string& name, const std::string& layer) {
  return name.size() > layer.size() && name.starts_with(layer) && name[layer.size()] == '.';
}

void add_kind(std::string& text, const std::vector<std::string>& names, const std::string& what) {
  if (names.empty()) return;
  auto shown = names;
  if (shown.size() > 3) shown.resize(3);
  if (!text.empty()) text += "; ";
  text += what + " " + join(shown, ", ");
  if (names.size() > shown.size())
    text += " and " + std::to_string(names.size() - shown.size()) + " more";
}

/// The file itself, or that of a checkpoint's folder, or of a run folder's newest checkpoint.
std::string weights_file(const std::string& path) {
  if (!fs::is_directory(path)) return path;
  const auto root = path + "/checkpoints";
  if (!fs::is_directory(root)) return path + "/model.safetensors";
  std::vector<std::string> notes;
  const auto newest = newest_checkpoint(root, notes);
  for (const auto& note : notes) log::warning(note);
  if (!newest) throw Error(Exit::data, "no complete checkpoint in '" + root + "'");
  return *newest + "/model.safetensors";
}

using Json = nlohmann::ordered_json;

/// A list of names, or the `classes` of a state.json; none where it is neither.
std::vector<std::string> class_list(const Json& json) {
  const auto list = json.is_object() ? json.value("classes", Json()) : json;
  std::vector<std::string> names;
  if (list.is_array())
    for (const auto& name : list)
      if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

[[noreturn]] void refuse(const std::string& source, const std::string& first,
                         const std::string& why) {
  throw Error(Exit::data, "'" + source + "' cannot be averaged with '" + first + "': " + why);
}

const at::Tensor& find(const std::vector<NamedTensor>& model, const NamedTensor& wanted,
                       const std::string& source, const std::string& first) {
  for (const auto& [name, tensor] : model) {
    if (name != wanted.name) continue;
    if (tensor.sizes() != wanted.tensor.sizes())
      refuse(source, first,
             "'" + name + "' is " + shape_text(tensor) + " there and " + shape_text(wanted.tensor) +
                 " here");
    return tensor;
  }
  refuse(source, first, "it has no '" + wanted.name + "'");
}

at::Tensor mean(const std::vector<at::Tensor>& tensors) {
  if (!tensors.back().is_floating_point()) return tensors.back();
  auto sum = tensors.front().to(at::kDouble, false, true);
  for (std::size_t i = 1; i < tensors.size(); ++i) sum += tensors[i];
  return sum.div_(static_cast<double>(tensors.size())).to(tensors.back().scalar_type());
}

}  // namespace

std::vector<NamedTensor> read_weights(const std::string& path) {
  return read_saved_weights(path).tensors;
}

SavedWeights read_saved_weights(const std::string& path) {
  const auto file = weights_file(path);
  if (!file.ends_with(".safetensors")) return {read_torch_file(file), {}};
  auto content = read_safetensors(file);
  SavedWeights saved{std::move(content.tensors), {}};
  const auto state = std::filesystem::path(file).parent_path() / "state.json";
  if (const auto named = content.metadata.find("classes"); named != content.metadata.end())
    saved.classes = class_list(Json::parse(named->second, nullptr, false));
  else if (std::filesystem::exists(state))
    saved.classes = class_list(Json::parse(read_text(state.string()), nullptr, false));
  return saved;
}

Outputs order_outputs(SavedWeights& saved, const std::vector<std::string>& here,
                      const std::string& layer) {
  if (saved.classes.empty() || here.empty() || saved.classes == here) return Outputs::as_they_are;
  if (!std::is_permutation(here.begin(), here.end(), saved.classes.begin(), saved.classes.end()))
    return Outputs::others;
  std::map<std::string, std::int64_t> places;
  for (const auto& name : saved.classes)
    places.emplace(name, static_cast<std::int64_t>(places.size()));
  std::vector<std::int64_t> rows;
  for (const auto& name : here) rows.push_back(places.at(name));
  for (const auto& [name, tensor] : saved.tensors)
    if (is_below(name, layer) &&
        (tensor.dim() == 0 || tensor.size(0) != static_cast<std::int64_t>(rows.size())))
      return Outputs::others;
  for (auto& named : saved.tensors)
    if (is_below(named.name, layer))
      named.tensor = named.tensor.index_select(0, at::tensor(rows, at::kLong));
  return Outputs::reordered;
}

void rename(std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& remap) {
  for (auto& named : tensors) {
    const std::pair<const std::string, std::string>* best = nullptr;
    for (const auto& rule : remap)
      if (named.name.starts_with(rule.first) && (!best || rule.first.size() > best->first.size()))
        best = &rule;
    if (best) named.name = best->second + named.name.substr(best->first.size());
  }
}

WeightsFit take_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                        const std::string& last_layer, const std::vector<std::string>& absent) {
  std::map<std::string, at::Tensor> there;
  for (const auto& named : saved) there.emplace(named.name, named.tensor);
  WeightsFit fit;
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : live) {
    const auto found = there.find(name);
    if (found == there.end()) {
      const bool may_lack = std::any_of(absent.begin(), absent.end(),
                                        [&](const auto& part) { return is_below(name, part); });
      if (!may_lack && !name.ends_with("num_batches_tracked"))
        fit.missing.push_back("'" + name + "'");
      continue;
    }
    if (found->second.sizes() == tensor.sizes()) {
      at::Tensor(tensor).copy_(found->second);
      fit.taken.push_back(name);
    } else if (is_below(name, last_layer)) {
      fit.replaced.push_back("'" + name + "'");
    } else {
      fit.reshaped.push_back("'" + name + "' (" + shape_text(found->second) + " there, " +
                             shape_text(tensor) + " here)");
    }
    there.erase(found);
  }
  for (const auto& named : saved)
    if (there.contains(named.name)) fit.unexpected.push_back("'" + named.name + "'");
  return fit;
}

std::string misfit(const WeightsFit& fit) {
  std::string text;
  add_kind(text, fit.missing, "the file lacks");
  add_kind(text, fit.unexpected, "only the file has");
  add_kind(text, fit.reshaped, "other shapes have");
  return text;
}

std::vector<NamedTensor> average_weights(const std::vector<std::vector<NamedTensor>>& models,
                                         const std::vector<std::string>& sources) {
  DDP_CHECK(!models.empty() && models.size() == sources.size(), "a source for each model");
  std::vector<NamedTensor> averaged;
  for (const auto& wanted : models.front()) {
    std::vector<at::Tensor> tensors;
    for (std::size_t i = 0; i < models.size(); ++i)
      tensors.push_back(find(models[i], wanted, sources[i], sources[0]));
    averaged.push_back({wanted.name, mean(tensors)});
  }
  for (std::size_t i = 1; i < models.size(); ++i)
    for (const auto& named : models[i]) find(models.front(), named, sources[0], sources[i]);
  return averaged;
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace ddptrain
