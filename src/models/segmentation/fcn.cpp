// Fully convolutional networks (Long et al. 2015) of torchvision: fcn_resnet50 and fcn_resnet101,
// and on other bodies. Names, order and first weights are torchvision's.
#include "models/model.h"
#include "models/segmentation/segmentation_model.h"

namespace ddptrain {

Entry<Model> fcn_model() {
  return entry<Model, SegmentationOptions>(
      "fcn", "A class of each pixel by two convolutions on the features of a body.",
      [](const SegmentationOptions& options, const ModelContext& context) {
        return segmentation_model(options, context, fcn_head);
      },
      {"batch_norm", "classifies_pixels", "convolves", "dropout", "takes_images",
       "outputs classifier.4 aux_classifier.4", "varies_on_cuda"});
}

}  // namespace ddptrain
