// Weights of a device in the type to which autocast casts them: one copy of all by one kernel, in
// place of a cast of each weight and one of each gradient.
#pragma once

#include <vector>

#include "models/module.h"

namespace ddptrain {

/// Which of them autocast casts wherever they are read, by any module that has them.
std::vector<bool> cast_parameters(Module& model, const std::vector<NamedTensor>& parameters);

/// The bits of weights and gradients are those that casts give. A gradient arrives in the type of
/// the copy, and is added to one that is there in the weights' own type.
class CastWeights {
 public:
  /// Of weights in single precision; `type`: what autocast casts to.
  CastWeights(Module& model, const std::vector<NamedTensor>& parameters, at::ScalarType type);

  /// Makes the copies, unless they are there.
  void copy();
  /// The weights have changed, or passes need the copies no longer.
  void forget() { copies_.clear(); }
  /// The model's weights are the copies while it lives.
  class Lent {
   public:
    explicit Lent(CastWeights& of);
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    CastWeights& of_;
  };

  /// Gradients that are in the copies' type become ones of the weights' own.
  void widen_gradients();

 private:
  at::ScalarType type_;
  std::vector<at::Tensor> weights_;  // the model's handles
  std::vector<at::Tensor> own_;      // what those are while copies are lent
  std::vector<at::Tensor> copies_;   // empty: forgotten
};

}  // namespace ddptrain
