// Blocks of a model, one after another, while a rank computes with them and the others do not.
#pragma once

#include <cstddef>

#include "models/blocks.h"

namespace ddptrain {

class Units;

/// A block's weights come before it runs, in the parameters' own type, and go after that: no rank
/// has more than one block's. All blocks run once in a pass, in the order in which the model has
/// them.
class UnitWalk final : public Blocks {
 public:
  /// `units` outlive it.
  explicit UnitWalk(Units& units) : units_(units) {}
  at::Tensor run(const Module& block, const at::Tensor& input, const Pass& pass,
                 const Forward& forward) override;
  /// Ends a pass on all ranks: those blocks that this rank has not run come and go for the others.
  void join();

 private:
  Units& units_;
  std::size_t next_ = 0;
};

}  // namespace ddptrain
