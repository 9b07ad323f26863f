// The blocks of a model: parts that run one after another, each with an input and an output.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// What runs the blocks of a pass (Pass::blocks): an engine that has their parameters only while
/// they are needed.
class Blocks {
 public:
  using Forward = std::function<at::Tensor(const at::Tensor& input, const Pass& pass)>;
  virtual ~Blocks() = default;
  /// Returns what `forward` does.
  virtual at::Tensor run(const Module& block, const at::Tensor& input, const Pass& pass,
                         const Forward& forward) = 0;
};

/// The outermost blocks of a model, in order of registration.
std::vector<const Module*> blocks_in(const Module& model);

/// Runs what a block computes under a pass. Every block (Module::is_block) runs so.
inline at::Tensor observed_block(const Module& block, const at::Tensor& input, const Pass& pass,
                                 const Blocks::Forward& forward) {
  return pass.blocks ? pass.blocks->run(block, input, pass, forward) : forward(input, pass);
}

/// A block that runs so, whatever it computes.
class ObservedBlock : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass& pass) final {
    return observed_block(*this, input, pass, [this](const at::Tensor& given, const Pass& now) {
      return compute(given, now);
    });
  }
  bool is_block() const final { return true; }

 private:
  virtual at::Tensor compute(const at::Tensor& input, const Pass& pass) = 0;
};

}  // namespace ddptrain
