#include "distributed/sharding/unit_walk.h"

#include "base/error.h"
#include "distributed/sharding/units.h"

namespace ddptrain {
namespace {

/// A block's weights are there while it lives.
class HeldBlock {
 public:
  HeldBlock(Units& units, std::size_t block) : units_(units), block_(block) { units_.hold(block_); }
  ~HeldBlock() { units_.let_go(block_); }
  HeldBlock(const HeldBlock&) = delete;
  HeldBlock& operator=(const HeldBlock&) = delete;

 private:
  Units& units_;
  std::size_t block_;
};

}  // namespace

at::Tensor UnitWalk::run(const Module& block, const at::Tensor& input, const Pass& pass,
                         const Forward& forward) {
  const auto place = units_.place_of(block);
  if (!place) return forward(input, pass);
  DDP_CHECK(*place == next_, "blocks that continue texts run once, in the model's order");
  const HeldBlock held(units_, next_++);
  return forward(input, pass);
}

void UnitWalk::join() {
  for (; next_ < units_.blocks(); ++next_) const HeldBlock held(units_, next_);
  next_ = 0;
}

}  // namespace ddptrain
