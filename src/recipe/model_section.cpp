#include "recipe/model_section.h"

namespace ddptrain {

void WeightsSpec::fields(Fields& f) {
  f("file", file,
    {.doc =
         "A .safetensors or .pth file, a checkpoint's folder, or a run's; names as torchvision's, "
         "fastai's or ours.",
     .required = true,
     .path = true});
  f("strict", strict,
    {.doc = "Every tensor must be in the file and every one of the file in the model; false takes "
            "what fits."});
  f("remap", remap,
    {.doc = "Beginnings of names in the file, and what the model has in their place: {'backbone.': "
            "''}."});
}

void ModelSection::fields(Fields& f) {
  f("weights", weights,
    {.doc = "Weights to start from; a last layer of another number of classes starts anew."});
  f("layer_groups", layer_groups,
    {.doc = "Groups of parameters from input to output, each a list of names with *, for freezing "
            "and rates; none takes the model's own."});
}

}  // namespace ddptrain
