// What every dataset of images has in common in a recipe.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "data/image/progressive.h"
#include "recipe/data_section.h"
#include "recipe/decoded_cache_spec.h"
#include "transforms/pipeline/pipeline.h"

namespace ddptrain {

/// `transforms: {train: [...], valid: [...], progressive: [{until: 40 %, size: 96}]}`
struct TransformLists {
  std::vector<Choice<Transform>> train;
  std::vector<Choice<Transform>> valid;
  std::vector<SizeStage> progressive;
  void fields(Fields& f);
};

/// Where JPEGs of training images are decoded.
enum class DecodeDevice { cpu, gpu, automatic };
std::span<const std::string_view> names(DecodeDevice);

/// Options of datasets of image files, in addition to their own.
struct ImageFileOptions {
  DataSection section;
  TransformLists transforms;
  DecodeMode decode = DecodeMode::fast;
  DecodeDevice decode_device = DecodeDevice::cpu;
  std::int64_t max_pixels = default_max_pixels;
  DecodedCacheSpec cache;
  PipelineOptions reading() const { return {.mode = decode, .max_pixels = max_pixels}; }
  void fields(Fields& f);
};

}  // namespace ddptrain
