// torch.nn.Sequential from a list of layers, for small networks of one's own.
#include "base/error.h"
#include "models/layers/chain.h"
#include "models/layers/layer.h"
#include "models/model.h"
#include "models/sizes.h"

namespace ddptrain {
namespace {

class Sequential final : public SequentialModel {
 public:
  struct Options {
    std::vector<std::int64_t> input;
    std::vector<Choice<Layer>> layers;
    void fields(Fields& f) {
      f("input", input,
        {.doc =
             "Shape of a sample: [channels, height, width] or [features]; empty takes the data's.",
         .min = 1,
         .max_items = 3});
      f("layers", layers,
        {.doc = "What a sample goes through, in order.",
         .required = true,
         .example = "[flatten, {type: linear, out: auto}]",
         .min_items = 1});
    }
  };

  Sequential(const Options& options, const ModelContext& model) {
    refuse_tables_and_texts(model);
    LayerContext context{options.input.empty() ? model.data.sample : options.input, model};
    if (context.shape.empty())
      throw Error(Exit::recipe, Option{"model.input"},
                  "the data does not say the shape of a sample; write it, for example [3, 32, 32]");
    for (const auto& layer : options.layers) append(catalog<Layer>().build(layer, context));
  }
};

}  // namespace

Entry<Model> sequential_model() {
  return entry_of<Model, Sequential>(
      "sequential", "Layers one after another, as torch.nn.Sequential has them.",
      {"any_outputs", "batch_norm", "convolves", "dropout", "takes_images"});
}

}  // namespace ddptrain
