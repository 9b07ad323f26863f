// mode: zero1. Every rank has all weights and gradients; each moves a part of the weights, and has
// the optimizer's state of that part alone.
#pragma once

#include <vector>

#include "distributed/buckets.h"
#include "distributed/sharding/shards.h"

namespace ddptrain {

/// The parameters of a replica, which it moves into buffers: one for each bucket of gradients, of
/// which a rank has the same elements.
class Zero1 final : public ModelParts {
 public:
  /// All outlive it. Of a frozen parameter some rank has the state, too: what trains may change.
  Zero1(std::vector<NamedTensor> parameters, const BucketSize& size, CutAt at, World& world);

  const Shards& shards() const override { return *shards_; }
  /// How the buckets of those of the parameters are cut that train.
  std::vector<Flat> flats_of(const std::vector<NamedTensor>& trained) const;
  /// Gives the pieces of this rank the sums of their gradients; whole parameters have none from now
  /// on. `used`: which of `trained` are used on any rank.
  void assign_gradients(const Buckets& buckets, const std::vector<NamedTensor>& trained,
                        const std::vector<bool>& used) const;
  /// Every rank's weights to all.
  void gather_weights() const;

 private:
  std::vector<NamedTensor> parameters_;
  World& world_;
  std::vector<Flat> flats_;
  std::vector<at::Tensor> buffers_;
  std::unique_ptr<Shards> shards_;
};

}  // namespace ddptrain
