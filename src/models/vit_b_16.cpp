// torchvision.models.vit_b_16.
#include "models/catalog.h"
#include "models/vision_transformer.h"

namespace ddptrain {

Entry<Model> vit_b_16_model() {
  return entry<Model, VisionTransformerOptions>(
      "vit_b_16", "Vision transformer with 12 layers on patches of 16 x 16, as in torchvision.",
      [](const VisionTransformerOptions& options, const ModelContext& context) {
        return make_vision_transformer({}, options, context);
      },
      {"dropout", "takes_images"});
}

}  // namespace ddptrain
