// The catalogue of samplers.
#include "data/samplers.h"

namespace ddptrain {

template <>
const Catalog<Sampler>& catalog<Sampler>() {
  static const Catalog<Sampler> all(
      {sequential_sampler(), shuffle_sampler(), weighted_sampler(), partial_sampler()});
  return all;
}

}  // namespace ddptrain
