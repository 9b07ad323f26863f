#include "train/step/tta.h"

#include <ATen/ops/maximum.h>

#include "losses/loss.h"

namespace ddptrain {

std::vector<Micro> with_passes(const std::vector<Micro>& micros, std::int64_t n) {
  std::vector<Micro> all;
  for (const auto& micro : micros)
    for (std::int64_t pass = 0; pass <= n; ++pass) {
      all.push_back(micro);
      all.back().pass = pass;
    }
  return all;
}

at::Tensor combined(const std::vector<at::Tensor>& outputs, const Loss& loss, const TtaSpec& tta) {
  const auto activation = loss.activation();
  const auto plain = predictions(outputs.at(0), activation);
  auto augmented = predictions(outputs.at(1), activation);
  for (std::size_t pass = 2; pass < outputs.size(); ++pass) {
    const auto more = predictions(outputs[pass], activation);
    augmented = tta.use_max ? at::maximum(augmented, more) : augmented.add(more);
  }
  if (tta.use_max) return output_of(at::maximum(augmented, plain), activation);
  augmented = augmented.div(static_cast<double>(outputs.size() - 1));
  return output_of(augmented.mul(1 - tta.beta).add(plain, tta.beta), activation);
}

}  // namespace ddptrain
