// The samplers there are, one file each.
#pragma once

#include "data/sampler.h"

namespace ddptrain {

Entry<Sampler> sequential_sampler();
Entry<Sampler> shuffle_sampler();
Entry<Sampler> weighted_sampler();
Entry<Sampler> partial_sampler();
Entry<Sampler> repeat_aug_sampler();
Entry<Sampler> length_sorted_sampler();

}  // namespace ddptrain
