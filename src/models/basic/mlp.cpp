// A multilayer perceptron on the flattened input: a torch.nn.Sequential of Flatten, then Linear,
// BatchNorm1d, activation and Dropout for each hidden layer, then Linear.
#include "base/error.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"

namespace ddptrain {
namespace {

class Mlp final : public SequentialModel {
 public:
  struct Options {
    Auto<std::int64_t> num_classes;
    Auto<std::int64_t> in_features;
    std::vector<std::int64_t> hidden = {128};
    Activation activation = Activation::relu;
    bool batch_norm = false;
    double dropout = 0;
    void fields(Fields& f) {
      f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
      f("in_features", in_features,
        {.doc = "Numbers in one sample; auto takes the data's.", .min = 1});
      f("hidden", hidden, {.doc = "Sizes of the hidden layers.", .min = 1});
      f("activation", activation, {.doc = "Activation of the hidden layers."});
      f("batch_norm", batch_norm, {.doc = "Batch norm before each activation."});
      f("dropout", dropout,
        {.doc = "Probability of dropping each hidden element.", .min = 0, .max = 1});
    }
  };

  Mlp(const Options& options, const ModelContext& context) {
    auto features = features_of(options, context);
    add<Flatten>();
    for (const auto hidden : options.hidden) {
      add<Linear>(features, hidden, context.generator);
      if (options.batch_norm) add<BatchNorm>(hidden);
      add<Activate>(options.activation, Activate::Input::overwrite);
      if (options.dropout > 0) add<Dropout>(options.dropout);
      features = hidden;
    }
    add<Linear>(features, classes_of(options.num_classes, context), context.generator);
  }

 private:
  static std::int64_t features_of(const Options& options, const ModelContext& context) {
    if (!options.in_features.automatic()) return *options.in_features.value;
    refuse_tables_and_texts(context);
    if (context.data.sample.empty())
      throw Error(Exit::recipe, Option{"model.in_features"},
                  "'auto' needs data with samples of one shape; write how many");
    std::int64_t product = 1;
    for (const auto size : context.data.sample) product *= size;
    return product;
  }
};

}  // namespace

Entry<Model> mlp_model() {
  return entry_of<Model, Mlp>(
      "mlp", "Linear layers with an activation between them, on the flattened input.",
      {"batch_norm", "dropout", "takes_images"});
}

}  // namespace ddptrain
