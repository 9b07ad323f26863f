#include "recipe/model_section.h"

#include <filesystem>

#include "config/choice.h"
#include "weights/weights.h"

namespace ddptrain {

void WeightsSpec::fields(Fields& f) {
  f("file", file,
    {.doc = "A .safetensors or .pth file, a checkpoint's folder, a run's, or one of the Hugging "
            "Face Hub, with torchvision's, timm's, fastai's, transformers' or our names of "
            "tensors; or published weights by name, such as imagenet ('ddptrain weights list').",
     .required = true,
     .path = true});
  f("words", words,
    {.doc = "The words of the file's embedding, where it names none: a pickled list in order of "
            "their numbers, such as fastai's itos.pkl, read as data, or a .json list.",
     .path = true,
     .example = "itos_wt103.pkl"});
  f("fetch", fetch, {.doc = "Published weights are fetched where they are missing."});
  f("sha256", sha256,
    {.doc = "Digest of the file, 64 digits; compared before anything starts.",
     .example = "6e10f2..."});
  f("strict", strict,
    {.doc = "Every tensor must be in the file and every one of the file in the model; false takes "
            "what fits."});
  f("remap", remap,
    {.doc = "Beginnings of names in the file, and what the model has in their place: {'backbone.': "
            "''}."});
  f("allow_calls", allow_calls,
    {.doc = "A .pth file that asks Python to start programs, run code or open files is refused; "
            "true reads its tensors that do not depend on that. Nothing is ever executed."});
}

std::string weights_model(const ChoiceBase& model) {
  const auto* body = model.node().find("body");
  if (!body || body->is_null() || body->is_list()) return model.type();
  if (body->is_scalar()) return body->text;
  const auto* type = body->find("type");
  return type ? type->text : model.type();
}

const PublishedWeights* named_weights(const ChoiceBase& model, const std::string& file) {
  return find_weights(weights_model(model), std::filesystem::path(file).filename().string());
}

void ModelSection::fields(Fields& f) {
  f("weights", weights,
    {.doc = "Weights to start from; a last layer of another number of classes is re-initialized."});
  f("layer_groups", layer_groups,
    {.doc = "Groups of parameters from input to output, each a list of names with *, for freezing "
            "and rates; none takes the model's own."});
}

}  // namespace ddptrain
