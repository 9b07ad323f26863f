// model tabular: fastai's TabularModel for any table.
#include "models/sizes.h"
#include "models/tabular/tabular_network.h"

namespace ddptrain {
namespace {

struct TabularOptions {
  Auto<std::int64_t> num_classes;
  TabularSettings network;
  void fields(Fields& f) {
    f("num_classes", num_classes,
      {.doc = "Outputs; auto takes the data's classes, or 1 where it predicts a number.",
       .min = 1});
    network.fields(f);
  }
};

std::int64_t outputs_of(const TabularOptions& options, const ModelContext& context) {
  if (options.num_classes.automatic() && context.data.class_count() == 0)
    return std::max<std::int64_t>(1, context.data.numbers);
  return classes_of(options.num_classes, context);
}

}  // namespace

Entry<Model> tabular_model() {
  return entry<Model, TabularOptions>(
      "tabular", "Embeddings of categories next to numbers, then linear layers; as fastai's.",
      [](const TabularOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<TabularNetwork>(options.network, outputs_of(options, context),
                                                context);
      },
      {"batch_norm", "dropout", "takes_tables", "embeds embeds.*.weight",
       "features layers.0 bn_cont skip"});
}

}  // namespace ddptrain
