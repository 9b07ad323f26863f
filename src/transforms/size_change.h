// What a transform that resizes or crops does to images of any size, as data, for programs that do
// it without our code.
#pragma once

#include <optional>
#include <vector>

#include "transforms/image.h"

namespace ddptrain {

struct SizeChange {
  enum class Kind {
    resize,         // to height and width
    resize_side,    // the shorter side to `height`; the longer follows, rounded down
    cut_to_aspect,  // the largest middle part of the aspect of height and width, resized to them
    center_crop     // the middle part; black where the image is smaller
  };
  Kind kind = Kind::resize;
  int height = 0, width = 0;
  std::optional<int> max_size = {};  // of resize_side: what the longer side gets at most
  Interpolation interpolation = Interpolation::bilinear;
  bool antialias = true;
};

/// A transform that does nothing but this, whatever it draws.
class ChangesSize {
 public:
  virtual ~ChangesSize() = default;
  /// In order; none where it does something else with these options.
  virtual std::vector<SizeChange> size_changes() const = 0;
};

}  // namespace ddptrain
