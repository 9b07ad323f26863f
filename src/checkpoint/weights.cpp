#include "checkpoint/weights.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/mapping_guard.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"

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
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
}

constexpr const char* index_ending = ".safetensors.index.json";

/// The file itself, or that of a folder, or of a run folder's newest checkpoint. A checkpoint whose
/// ranks have files of their own has no file of weights: its folder.
std::string weights_file(const std::string& path) {
  if (!fs::is_directory(path)) return path;
  const auto root = path + "/checkpoints";
  if (!fs::is_directory(root)) {
    const auto whole = path + "/model.safetensors", index = path + "/model" + index_ending;
    const auto pickled = path + "/pytorch_model.bin";
    if (!fs::exists(whole) && fs::exists(index)) return index;
    if (!fs::exists(whole) && fs::exists(path + "/MANIFEST.json")) return path;
    return !fs::exists(whole) && fs::exists(pickled) ? pickled : whole;
  }
  std::vector<std::string> notes;
  const auto newest = newest_checkpoint(root, notes);
  for (const auto& note : notes) log::warning(note);
  if (!newest) throw Error(Exit::data, "no complete checkpoint in '{}'", root);
  return weights_file(*newest);
}

/// None where it is no list of texts.
std::vector<std::string> list_of_names(const Json& list) {
  std::vector<std::string> names;
  if (list.is_array())
    for (const auto& name : list)
      if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

SavedNames names_in_header(const std::map<std::string, std::string>& header) {
  const auto text = [&](const char* key) {
    const auto found = header.find(key);
    return found == header.end() ? std::string() : found->second;
  };
  const auto list = [&](const char* key) { return list_of_names(json_or_null(text(key))); };
  return {list("classes"), list("targets"), text("fitted")};
}

[[noreturn]] void refuse_index(const std::string& index, const std::string& why) {
  throw Error(Exit::data, "'{}' {}", index, why);
}

/// The names of tensors by the file that has them, next to the index.
std::map<std::string, std::set<std::string>> names_by_file(const std::string& index) {
  const auto json = json_or_null(read_text(index));
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse_index(index, "has no 'weight_map'");
  std::map<std::string, std::set<std::string>> files;
  for (const auto& [name, file] : json["weight_map"].items()) {
    const auto text = file.is_string() ? file.get<std::string>() : "";
    if (!text.ends_with(".safetensors") || text.find('/') != std::string::npos)
      refuse_index(index, fmt::format("has no .safetensors file next to it for '{}'", name));
    files[text].insert(name);
  }
  return files;
}

/// Of each file the tensors that the index says are there (transformers, huggingface_hub).
std::vector<NamedTensor> read_sharded(const std::string& index) {
  std::vector<NamedTensor> all;
  for (auto& [file, names] : names_by_file(index)) {
    auto content = map_safetensors((fs::path(index).parent_path() / file).string());
    for (auto& named : content.tensors)
      if (names.erase(named.name) > 0) all.push_back(std::move(named));
    if (!names.empty())
      refuse_index(index, fmt::format("has '{}' in '{}', which lacks it", *names.begin(), file));
  }
  return all;
}

[[noreturn]] void refuse(const std::string& source, const std::string& first,
                         const std::string& why) {
  throw Error(Exit::data, "'{}' cannot be averaged with '{}': {}", source, first, why);
}

using TensorIndex = std::unordered_map<std::string_view, const at::Tensor*>;

TensorIndex index_tensors(const std::vector<NamedTensor>& model) {
  TensorIndex tensors;
  for (const auto& named : model) tensors.emplace(named.name, &named.tensor);
  return tensors;
}

const at::Tensor& find(const TensorIndex& model, const NamedTensor& wanted,
                       const std::string& source, const std::string& first) {
  const auto found = model.find(wanted.name);
  if (found == model.end()) refuse(source, first, fmt::format("it has no '{}'", wanted.name));
  const auto& tensor = *found->second;
  if (tensor.sizes() != wanted.tensor.sizes())
    refuse(source, first,
           fmt::format("'{}' is {} there and {} here", wanted.name, shape_text(tensor),
                       shape_text(wanted.tensor)));
  return tensor;
}

at::Tensor mean(const std::vector<at::Tensor>& tensors) {
  if (!tensors.back().is_floating_point()) return tensors.back().clone();
  auto sum = tensors.front().to(at::kDouble, false, true);
  for (std::size_t i = 1; i < tensors.size(); ++i) sum += tensors[i];
  return sum.div_(static_cast<double>(tensors.size())).to(tensors.back().scalar_type());
}

bool is_in_parts(const std::string& name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return name == part || is_below(name, part); });
}

}  // namespace

std::vector<NamedTensor> read_weights(const std::string& path, Calls calls) {
  return read_saved_weights(path, calls).tensors;
}

SavedWeights read_saved_weights(const std::string& path, Calls calls) {
  const auto file = weights_file(path);
  if (fs::is_directory(file)) {
    auto checkpoint = map_checkpoint(file);
    return {std::move(checkpoint.model), saved_names(checkpoint.state)};
  }
  if (file.ends_with(index_ending)) return {read_sharded(file), {}};
  if (!file.ends_with(".safetensors")) return {read_torch_file(file, calls), {}};
  auto content = map_safetensors(file);
  SavedWeights saved{std::move(content.tensors), names_in_header(content.metadata)};
  const auto state = fs::path(file).parent_path() / kStateJson;
  if (!content.metadata.contains("classes") && fs::exists(state))
    saved.names = saved_names(read_text(state.string()));
  return saved;
}

std::map<std::string, std::string> header_of(const SavedNames& names) {
  const auto text = [](const Json& json) { return lossy_json_text(json); };
  std::map<std::string, std::string> header{{"classes", text(names.classes)}};
  if (!names.targets.empty()) header["targets"] = text(names.targets);
  if (!names.fitted.empty()) header["fitted"] = names.fitted;
  return header;
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

void drop_raw_copies(std::vector<NamedTensor>& tensors) {
  const std::string between = ".module.";
  std::set<std::string> raw;
  for (const auto& named : tensors)
    if (named.name.ends_with("_raw")) raw.insert(named.name);
  std::erase_if(tensors, [&](const NamedTensor& named) {
    const auto at = named.name.rfind(between);
    return at != std::string::npos && raw.contains(named.name.substr(0, at) + "." +
                                                   named.name.substr(at + between.size()) + "_raw");
  });
}

bool may_be_missing(const std::string& name) { return name.ends_with(".codes"); }

WeightsFit fit_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                       const std::vector<std::string>& last_layers,
                       const std::vector<std::string>& absent) {
  std::map<std::string, at::Tensor> there;
  for (const auto& named : saved) there.emplace(named.name, named.tensor);
  WeightsFit fit;
  for (const auto& [name, tensor] : live) {
    const auto found = there.find(name);
    if (found == there.end()) {
      if (!is_in_parts(name, absent) && !may_be_missing(name) &&
          !name.ends_with("num_batches_tracked"))
        fit.missing.push_back(fmt::format("'{}'", name));
      continue;
    }
    if (found->second.sizes() == tensor.sizes()) {
      fit.values.push_back({name, found->second});
      fit.taken.push_back(name);
    } else if (is_in_parts(name, last_layers)) {
      fit.replaced.push_back(fmt::format("'{}'", name));
    } else {
      fit.reshaped.push_back(fmt::format("'{}' ({} there, {} here)", name,
                                         shape_text(found->second), shape_text(tensor)));
    }
    there.erase(found);
  }
  for (const auto& named : saved)
    if (there.contains(named.name)) fit.unexpected.push_back(fmt::format("'{}'", named.name));
  return fit;
}

WeightsFit take_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                        const std::vector<std::string>& last_layers,
                        const std::vector<std::string>& absent) {
  auto fit = fit_weights(saved, live, last_layers, absent);
  const at::NoGradGuard no_grad;
  const auto places = index_tensors(live);
  for (const auto& [name, value] : fit.values) at::Tensor(*places.at(name)).copy_(value);
  check_mapped_files();
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
  std::vector<TensorIndex> named;
  for (const auto& model : models) named.push_back(index_tensors(model));
  std::vector<NamedTensor> averaged;
  for (const auto& wanted : models.front()) {
    std::vector<at::Tensor> tensors;
    for (std::size_t i = 0; i < models.size(); ++i)
      tensors.push_back(find(named[i], wanted, sources[i], sources[0]));
    averaged.push_back({wanted.name, mean(tensors)});
  }
  check_mapped_files();
  for (std::size_t i = 1; i < models.size(); ++i)
    for (const auto& each : models[i]) find(named.front(), each, sources[0], sources[i]);
  return averaged;
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace ddptrain
