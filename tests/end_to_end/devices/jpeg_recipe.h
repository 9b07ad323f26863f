// A recipe whose images are JPEGs.
#pragma once

#include <string>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {

/// jpegs.yaml: six steps on two classes, of which every fourth image is in inks (CMYK), which no
/// device decodes.
inline void write_jpeg_recipe(const Folder& folder) {
  const auto golden = test::in_source("tests/golden/images/");
  int number = 0;
  for (const char* name : {"a_rgb.jpg", "a_rgb_420_q60.jpg", "a_exif.jpg", "a_cmyk.jpg"})
    for (const char* kind : {"train/cat", "train/dog", "valid/cat", "valid/dog"})
      write(folder / ("images/" + std::string(kind) + "/" + std::to_string(number++) + ".jpg"),
            read(golden + name));
  write(folder / "jpegs.yaml", R"(
data:
  type: image_folder
  root: images
  train: train
  valid: {folder: valid}
  decode: exact
  transforms:
    train: [{type: random_resized_crop, size: 32}, {type: horizontal_flip}]
    valid: [{type: resize, size: 32}, {type: center_crop, size: 32}]
model: {type: mnist_net, num_classes: auto}
batch: {global: 4}
train: {duration: 6 steps}
eval: {every: 6 steps}
)");
}

}  // namespace ddptrain::end_to_end
