// The ways to clip, one exported function each.
#pragma once

#include "optim/clip.h"

namespace ddptrain {

Entry<Clip> norm_clip();
Entry<Clip> value_clip();

}  // namespace ddptrain
