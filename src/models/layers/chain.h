// torch.nn.Sequential: modules one after another, named by their numbers or as given.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// One after another. On an accelerator a batch norm and the ReLU after it are one operator; on the
/// CPU a pass of training has one node for layers of rows (dense_chain.h).
at::Tensor run_steps(std::span<Module* const> steps, const at::Tensor& input, const Pass& pass);

/// Base is Module, or Model where a whole network is a chain. An empty chain is the identity.
template <class Base>
class Chain : public Base {
 public:
  Module* append(std::unique_ptr<Module> module) {
    return append(std::to_string(steps_.size()), std::move(module));
  }
  Module* append(std::string name, std::unique_ptr<Module> module) {
    return steps_.emplace_back(this->child(std::move(name), std::move(module)));
  }
  template <class M, class... Args>
  M* add(Args&&... arguments) {
    auto module = std::make_unique<M>(std::forward<Args>(arguments)...);
    M* raw = module.get();
    append(std::move(module));
    return raw;
  }
  /// Gives its steps away, which are named by their numbers.
  std::vector<std::unique_ptr<Module>> release() {
    std::vector<std::unique_ptr<Module>> all;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      all.push_back(this->release_child(std::to_string(i)));
    steps_.clear();
    return all;
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return run_steps(steps_, input, pass);
  }
  std::span<Module* const> steps() const { return steps_; }

 private:
  std::vector<Module*> steps_;
};

using Sequence = Chain<Module>;
using SequentialModel = Chain<Model>;

/// relu(path(input) + shortcut()), the end of a residual block; on an accelerator in the operator
/// of the batch norm that ends the path. The shortcut runs after what comes before that. No chain
/// with a forward pass of its own may end the path.
at::Tensor add_relu_after(Module& path, const at::Tensor& input,
                          const std::function<at::Tensor()>& shortcut, const Pass& pass);

}  // namespace ddptrain
