#include "train/step/kept_buffers.h"

#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>

#include "distributed/world.h"

namespace ddptrain {

bool may_lose_data_midway(const World& world, std::int64_t micro_steps) {
  return world.rank == 0 && (world.size > 1 || micro_steps > 1);
}

KeptBuffers::KeptBuffers(const Model& model) {
  for (const auto& [name, tensor] : model.named_buffers()) {
    auto& [live, kept] = copies_[tensor.scalar_type()];
    live.push_back(tensor);
    kept.push_back(at::empty_like(live.back()));
  }
  keep();
}

void KeptBuffers::keep() {
  for (auto& [type, copies] : copies_) at::_foreach_copy_(copies.kept, copies.live);
}

void KeptBuffers::put_back() const {
  for (const auto& [type, copies] : copies_) at::_foreach_copy_(copies.live, copies.kept);
}

}  // namespace ddptrain
