// torchvision.models.VisionTransformer of any size.
#include "models/catalog.h"
#include "models/vision_transformer.h"

namespace ddptrain {
namespace {

struct VitOptions {
  VisionTransformerOptions common;
  VisionTransformerPlan plan;
  void fields(Fields& f) {
    common.fields(f);
    plan.fields(f);
  }
};

}  // namespace

Entry<Model> vit_model() {
  return entry<Model, VitOptions>("vit", "Vision transformer of any size, as in torchvision.",
                                  [](const VitOptions& options, const ModelContext& context) {
                                    return make_vision_transformer(options.plan, options.common,
                                                                   context);
                                  },
                                  {"dropout", "takes_images"});
}

}  // namespace ddptrain
