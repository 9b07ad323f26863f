// Mean 0 and deviation 1 per channel. As the last step of a pipeline it is fused with writing.
#pragma once

#include <vector>

#include "transforms/codecs/write.h"
#include "transforms/transform.h"

namespace ddptrain {

class Normalize final : public Transform {
 public:
  /// One value per channel, or one for all, of pixels in 0 .. 1.
  Normalize(std::vector<double> mean, std::vector<double> deviation);
  void apply(Image& image, Stream& random) const override;
  bool keeps_bytes() const override { return false; }
  ChannelScale scale(const Image& image) const;

 private:
  std::vector<double> mean_, deviation_;
};

}  // namespace ddptrain
