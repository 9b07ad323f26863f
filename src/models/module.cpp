#include "models/module.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

std::string dotted(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

void append(std::vector<NamedTensor>& all, const std::string& path,
            const std::vector<NamedTensor>& own) {
  for (const auto& [name, tensor] : own) all.push_back({dotted(path, name), tensor});
}

}  // namespace

void Module::visit(const std::string& path, const Visit& each) const {
  each(path, *this);
  for (const auto& [name, module] : children_) module->visit(dotted(path, name), each);
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> all;
  std::set<const void*> seen;
  visit("", [&](const auto& path, const Module& m) {
    for (const auto& [name, tensor] : m.parameters_)
      if (seen.insert(tensor.unsafeGetTensorImpl()).second)
        all.push_back({dotted(path, name), tensor});
  });
  return all;
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> all;
  visit("", [&](const auto& path, const Module& m) { append(all, path, m.buffers_); });
  return all;
}

std::vector<NamedTensor> Module::state() const {
  std::vector<NamedTensor> all;
  visit("", [&](const auto& path, const Module& m) {
    append(all, path, m.parameters_);
    append(all, path, m.buffers_);
  });
  return all;
}

std::vector<std::pair<std::string, Module*>> Module::modules() {
  std::vector<std::pair<std::string, Module*>> all;
  visit("", [&](const auto& path, const Module& m) {
    all.emplace_back(path, const_cast<Module*>(&m));  // everything below a mutable root is mutable
  });
  return all;
}

std::vector<std::pair<std::string, const Module*>> Module::modules() const {
  std::vector<std::pair<std::string, const Module*>> all;
  visit("", [&](const auto& path, const Module& m) { all.emplace_back(path, &m); });
  return all;
}

std::vector<Module*> Module::children() const {
  std::vector<Module*> all;
  for (const auto& [name, module] : children_) all.push_back(module.get());
  return all;
}

std::unique_ptr<Module> Module::release_child(const std::string& name) {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [&](const auto& child) { return child.first == name; });
  DDP_CHECK(found != children_.end(), "there is no child '" + name + "'");
  auto module = std::move(found->second);
  children_.erase(found);
  module->parent_ = nullptr;
  return module;
}

void Module::to(at::Device device, at::ScalarType dtype) {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : state())
    tensor.set_data(tensor.to(device, tensor.is_floating_point() ? dtype : tensor.scalar_type()));
}

void Module::channels_last() {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : named_parameters())
    if (tensor.dim() == 4) tensor.set_data(tensor.contiguous(at::MemoryFormat::ChannelsLast));
}

std::string Module::path() const {
  return parent_ == nullptr ? name_ : dotted(parent_->path(), name_);
}

at::Tensor Module::parameter(std::string name, at::Tensor value) {
  value.set_requires_grad(true);
  parameters_.push_back({std::move(name), value});
  return value;
}

at::Tensor Module::buffer(std::string name, at::Tensor value) {
  buffers_.push_back({std::move(name), value});
  return value;
}

}  // namespace ddptrain
