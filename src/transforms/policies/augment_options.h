// Options of the transforms that choose operations.
#pragma once

#include "transforms/options.h"
#include "transforms/policies/augment_ops.h"

namespace ddptrain {

struct AugmentWarp {
  WarpLookup interpolation = WarpLookup::nearest;
  double fill = 0;
  void fields(Fields& f) {
    f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
    f("fill", fill, {.doc = "Value of what was outside: 0 to 255 before normalize."});
  }
  WarpOptions warp() const { return {static_cast<Interpolation>(interpolation), fill}; }
};

}  // namespace ddptrain
