#include "models/vision/body.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

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

}  // namespace

void Body::take(const std::string& name, std::unique_ptr<Module> child) {
  names[name + "."] = std::to_string(layers->children().size()) + ".";
  layers->append(std::move(child));
}

void Body::divide(const std::vector<Module*>& modules, std::size_t first) {
  DDP_CHECK(first < modules.size(), "each of the two groups has layers");
  const auto cut = modules.begin() + static_cast<std::ptrdiff_t>(first);
  groups = {{modules.begin(), cut}, {cut, modules.end()}};
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
  body.take("features", take("features"));
  if (first > 0)
    body.divide(body.layers->children().front()->children(), first);
  else
    body.groups = {body.layers->children()};
  return body;
}

Body Model::take_body() { return take_features(); }

}  // namespace ddptrain
