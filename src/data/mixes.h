// The mixes there are, one file each.
#pragma once

#include "data/mix.h"

namespace ddptrain {

Entry<Mix> cutmix_mix();
Entry<Mix> mixup_mix();
Entry<Mix> one_of_mix();

}  // namespace ddptrain
