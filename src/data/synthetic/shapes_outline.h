// Which points of the plane belong to a shape; each lies within the unit circle.
#pragma once

namespace ddptrain {

/// `shape` counts shape_names.
bool inside_shape(int shape, double x, double y);

}  // namespace ddptrain
