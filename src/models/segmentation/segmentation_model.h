// torchvision's segmentation models: a body that keeps its names, a head, and an auxiliary head.
#pragma once

#include <memory>

#include "config/fields.h"
#include "models/layers/chain.h"

namespace ddptrain {

struct SegmentationOptions {
  Choice<Model> body;
  Auto<std::int64_t> num_classes;
  bool dilated = true;
  double aux_loss = 0;
  void fields(Fields& f);
};

/// [rows, in, h, w] to scores [rows, classes, h, w].
using PixelHead = std::unique_ptr<Sequence>(std::int64_t in, std::int64_t classes,
                                            const at::Generator& generator);

/// `backbone`, `classifier` and, where aux_loss is not 0, `aux_classifier` (an fcn_head): scores
/// [rows, classes, H, W] of images [rows, channels, H, W], enlarged as a bilinear function.
std::unique_ptr<Model> segmentation_model(const SegmentationOptions& options,
                                          const ModelContext& context, PixelHead* head);

/// torchvision.models.segmentation.fcn.FCNHead (Long et al. 2015).
std::unique_ptr<Sequence> fcn_head(std::int64_t in, std::int64_t classes,
                                   const at::Generator& generator);

}  // namespace ddptrain
