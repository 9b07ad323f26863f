// What images of files have as target: how it gets into batches and before people.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "recipe/data_facts.h"
#include "sources/image/image_file.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {

struct Preview;
class PredictionForm;

class ImageTarget {
 public:
  virtual ~ImageTarget() = default;
  virtual void tell(DataFacts& facts) const = 0;
  /// Targets of rows of images of that size, uninitialized.
  virtual at::Tensor allocate(std::int64_t rows, const Extent& extent) const = 0;
  /// Whether it is a mask or points, which move with the pixels.
  virtual bool in_image() const { return false; }
  /// Adds masks and points of an image of `size` below `root`. An Error (Exit::data) names the file
  /// that cannot be used.
  virtual void read(const ImageFile& /*file*/, const std::string& /*root*/, ImageSize /*size*/,
                    Image& /*into*/) const {}
  /// Writes row `row` of `targets`; `moved` has masks and points after the transforms, and the
  /// row's size.
  virtual void write(const ImageFile& file, const Image& moved, at::Tensor& targets,
                     std::int64_t row) const = 0;
  /// Adds row 0 of `targets` to what a person sees.
  virtual void show(const at::Tensor& targets, Preview& shown) const = 0;
  /// What a trained model relies on, as JSON text; empty: nothing (Dataset::state).
  virtual std::string state() const { return {}; }
  /// How predictions are written; null: as classes.
  virtual const PredictionForm* prediction_form() const { return nullptr; }
};

}  // namespace ddptrain
