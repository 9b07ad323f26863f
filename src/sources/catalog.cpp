// The samplers.
#include "sources/sampler.h"

namespace ddptrain {

Entry<Sampler> length_sorted_sampler();
Entry<Sampler> partial_sampler();
Entry<Sampler> repeat_aug_sampler();
Entry<Sampler> sequential_sampler();
Entry<Sampler> shuffle_sampler();
Entry<Sampler> weighted_sampler();

template <>
const Catalog<Sampler>& catalog<Sampler>() {
  static const Catalog<Sampler> all({
      sequential_sampler(),
      shuffle_sampler(),
      weighted_sampler(),
      partial_sampler(),
      repeat_aug_sampler(),
      length_sorted_sampler(),
  });
  return all;
}

}  // namespace ddptrain
