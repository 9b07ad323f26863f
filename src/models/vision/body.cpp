#include "models/vision/body.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "base/error.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kLargestTrial = 512;

/// Where the body is one chain within another (torchvision's `features`), that one's steps.
std::vector<Module*> steps_of(const Sequence& layers) {
  auto steps = layers.children();
  while (steps.size() == 1 && dynamic_cast<Sequence*>(steps.front()))
    steps = steps.front()->children();
  return steps;
}

/// A layer's padding adds the same to width and height, so their difference shrinks by exactly the
/// strides; 0 where the image is too small to tell.
std::vector<Depth> depths_seen(const std::vector<Module*>& steps, at::Tensor image) {
  const auto wider = [](const at::Tensor& tensor) { return tensor.size(3) - tensor.size(2); };
  const auto difference = wider(image);
  std::vector<Depth> depths;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto before = image.sizes().slice(2).vec();
    image = steps[step]->forward(image, Pass{});
    if (depths.empty() || image.sizes().slice(2) != before) depths.emplace_back();
    const auto left = wider(image);
    depths.back() = {step, left > 0 ? difference / left : 0, image.size(1)};
  }
  return depths;
}

bool are_told_apart(const std::vector<Depth>& depths) {
  for (std::size_t i = 1; i < depths.size(); ++i)
    if (depths[i].reduction <= depths[i - 1].reduction) return false;
  return true;
}

bool is_said(const Choice<Model>& network, const char* option) {
  const auto* value = network.node().find(option);
  if (value == nullptr || value->is_null()) return false;
  return value->is_list() ? !value->items.empty() : value->text != "auto";
}

}  // namespace

void Body::append(const std::string& name, std::unique_ptr<Module> child) {
  names[name + "."] = fmt::format("{}.", layers->children().size());
  layers->append(std::move(child));
}

void Body::divide(const std::vector<Module*>& modules, std::size_t first) {
  DDP_CHECK(first < modules.size(), "each of the two groups has layers");
  const auto cut = modules.begin() + static_cast<std::ptrdiff_t>(first);
  groups = {{modules.begin(), cut}, {cut, modules.end()}};
}

Body body_of(const Choice<Model>& network, const ModelContext& context) {
  const auto* entry = catalog<Model>().find(network.type());
  DDP_CHECK(entry->has("body") || entry->has("lends_features"), "this network has no body to lend");
  for (const auto* key : {"num_classes", "weights", "layer_groups"})
    DDP_CHECK(!is_said(network, key), "a body has no head of its own");
  auto whole = context;
  whole.data.classes.resize(1000);  // as torchvision builds it, so that the same weights are drawn
  const auto model = catalog<Model>().build(network, whole);
  auto tables = model->name_tables();
  auto body = model->take_body();
  body.tables = std::move(tables);
  return body;
}

std::map<std::string, std::string> names_below(const std::string& path,
                                               const std::map<std::string, std::string>& names) {
  std::map<std::string, std::string> below;
  for (const auto& [theirs, ours] : names) below[theirs] = path + "." + ours;
  return below;
}

std::int64_t image_channels(const Sequence& layers) {
  for (const auto& [name, tensor] : layers.named_parameters())
    if (tensor.dim() == 4) return tensor.size(1);
  DDP_CHECK(false, "a body begins with a convolution");
  return 0;
}

std::vector<Depth> depths_of(Sequence& layers, std::int64_t channels) {
  const at::NoGradGuard no_grad;
  const auto steps = steps_of(layers);
  for (std::int64_t size = 64;; size *= 2) try {
      auto depths = depths_seen(steps, at::zeros({1, channels, size, size + size / 2}));
      if (are_told_apart(depths) || size >= kLargestTrial) return depths;
    } catch (const c10::Error&) {  // too small for its pooling
      if (size >= kLargestTrial) throw;
    }
}

std::vector<at::Tensor> features_at(const std::vector<Depth>& depths, Sequence& layers,
                                    const at::Tensor& input, const Pass& pass) {
  const auto steps = steps_of(layers);
  std::vector<at::Tensor> features;
  auto value = input;
  std::size_t next = 0;
  for (const auto& depth : depths) {
    while (next <= depth.step) value = steps[next++]->forward(value, pass);
    features.push_back(value);
  }
  return features;
}

Body Model::take_features(std::size_t first) {
  Body body;
  body.append("features", release_child("features"));
  if (first > 0)
    body.divide(body.layers->children().front()->children(), first);
  else
    body.groups = {body.layers->children()};
  return body;
}

Body Model::take_body() { return take_features(); }

}  // namespace ddptrain
