// A piece of a network: named parameters, buffers and children, and a forward pass. Ours rather
// than torch::nn::Module: names and order are torch's state_dict's, randomness comes from the Pass,
// and headers stay light.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/pass.h"

namespace ddptrain {

struct NamedTensor {
  std::string name;  // dotted, "layer1.0.conv1.weight"
  at::Tensor tensor;
};

class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Tensors with rows first in, rows first out. A batch of 0 rows is allowed everywhere.
  virtual at::Tensor forward(const at::Tensor& input, const Pass& pass) = 0;

  /// In torch's order: a module's own first, then its children's in order of registration. A
  /// parameter with two names is listed once, by the first.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<NamedTensor> named_buffers() const;
  /// torch's state_dict order: per module parameters, then buffers, then children.
  std::vector<NamedTensor> state() const;
  /// This module and all below it with dotted names; the root's is empty.
  std::vector<std::pair<std::string, Module*>> modules();
  std::vector<std::pair<std::string, const Module*>> modules() const;

  /// Whether this is a normalization layer, whose parameters recipes may exempt from weight decay.
  virtual bool is_norm() const { return false; }
  /// Whether all that it computes is run by observed_block (models/blocks.h) or run_block, and
  /// nothing else reads its parameters in a forward pass.
  virtual bool is_block() const { return false; }
  /// Of its own parameters those that every forward pass under autocast casts to autocast's type
  /// (torch.autocast's lists), and reads in no other. May have undefined ones among them.
  virtual std::vector<at::Tensor> autocast_parameters() const { return {}; }
  /// From now on a batch norm uses its running statistics in training too, and leaves them alone.
  virtual void keep_statistics(bool) {}

  /// Moves and converts every floating tensor in place (handles stay valid); integer buffers only
  /// move.
  void to(at::Device device, at::ScalarType dtype);
  /// Gives 4-d parameters channels_last strides.
  void channels_last();

  /// In order of registration.
  std::vector<Module*> children() const;

  /// Dotted name below the root, where the module's own randomness comes from; the root's is empty.
  std::string path() const;

 protected:
  Module() = default;
  /// Registers and returns the handle to keep as a member. Parameters require gradients.
  at::Tensor parameter(std::string name, at::Tensor value);
  at::Tensor buffer(std::string name, at::Tensor value);
  /// Owns the module under a name; returns the handle to keep as a member.
  template <class M>
  M* child(std::string name, std::unique_ptr<M> module) {
    M* raw = module.get();
    raw->Module::parent_ = this;
    raw->Module::name_ = name;
    children_.emplace_back(std::move(name), std::move(module));
    return raw;
  }
  /// Gives a child away; handles to it stay valid while its new owner lives.
  std::unique_ptr<Module> release_child(const std::string& name);
  template <class M, class... Args>
  M* make(std::string name, Args&&... arguments) {
    return child(std::move(name), std::make_unique<M>(std::forward<Args>(arguments)...));
  }

 private:
  using Visit = std::function<void(const std::string& path, const Module& module)>;
  void visit(const std::string& path, const Visit& each) const;

  const Module* parent_ = nullptr;
  std::string name_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
};

}  // namespace ddptrain
