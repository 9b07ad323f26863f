// fastai.collab.EmbeddingNN: embeddings of users and items, then linear layers to a rating.
#include "models/tabular/tabular_network.h"
#include "models/tabular/users_and_items.h"

namespace ddptrain {
namespace {

struct CollabNnOptions {
  TabularSettings network{.layers = {50}};
  void fields(Fields& f) { network.fields(f); }
};

}  // namespace

Entry<Model> collab_nn_model() {
  return entry<Model, CollabNnOptions>(
      "collab_nn", "A rating from embeddings of a user and an item by linear layers; as fastai's.",
      [](const CollabNnOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        users_and_items(context, "collab_nn");
        return std::make_unique<TabularNetwork>(options.network, 1, context);
      },
      {"batch_norm", "dropout", "takes_tables", "embeds embeds.0.weight embeds.1.weight",
       "features layers.0 bn_cont skip"});
}

}  // namespace ddptrain
