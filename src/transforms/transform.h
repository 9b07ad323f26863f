// Sample in, sample out.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "config/catalog.h"
#include "transforms/image.h"

namespace ddptrain {

/// One step of a pipeline. Draws come from a stream of its own: a function of seed, epoch, position
/// and index of the transform.
class Transform {
 public:
  using Make = std::unique_ptr<Transform>();
  virtual ~Transform() = default;
  virtual void apply(Image& image, Stream& random) const = 0;
  /// A transform that cuts a window out of the source and resizes it says so before decoding, so
  /// that only that part is decoded; as the first of a pipeline it is then not applied. Given the
  /// source's size in pixels.
  virtual std::optional<Window> window(int /*width*/, int /*height*/, Stream& /*random*/) const {
    return {};
  }
  /// Bytes stay bytes.
  virtual bool keeps_bytes() const { return true; }
  /// The size of what comes out for a size that goes in; not fixed() where it varies.
  virtual Extent output(Extent in) const { return in; }
};

template <>
const Catalog<Transform>& catalog<Transform>();

}  // namespace ddptrain
