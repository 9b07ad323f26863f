// fastai.collab.EmbeddingDotBias: the product of a vector for the user and one for the item, plus a
// bias of each.
#include "base/error.h"
#include "models/layers/lin_bn_drop.h"
#include "models/tabular/column_embedding.h"
#include "models/tabular/users_and_items.h"

namespace ddptrain {
namespace {

struct EmbeddingDotBiasOptions {
  std::int64_t n_factors = 50;
  std::vector<double> y_range;
  void fields(Fields& f) {
    f("n_factors", n_factors, {.doc = "Numbers of each user's and each item's vector.", .min = 1});
    y_range_field(f, y_range);
  }
};

class EmbeddingDotBias final : public Model {
 public:
  EmbeddingDotBias(const EmbeddingDotBiasOptions& options, const ModelContext& context) {
    const auto [users, items] = users_and_items(context, "embedding_dot_bias");
    const auto& generator = context.generator;
    u_weight_ = make<ColumnEmbedding>("u_weight", users, options.n_factors, generator);
    i_weight_ = make<ColumnEmbedding>("i_weight", items, options.n_factors, generator);
    u_bias_ = make<ColumnEmbedding>("u_bias", users, 1, generator);
    i_bias_ = make<ColumnEmbedding>("i_bias", items, 1, generator);
    if (!options.y_range.empty())
      range_ = make<SigmoidRange>("range", options.y_range[0], options.y_range[1]);
  }

  /// Codes [rows, 2] to ratings [rows].
  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) override {
    const auto users = inputs.at(0).select(1, 0), items = inputs.at(0).select(1, 1);
    const auto product = u_weight_->forward(users, pass).mul(i_weight_->forward(items, pass));
    const auto rating = product.sum(1)
                            .add(u_bias_->forward(users, pass).squeeze(1))
                            .add(i_bias_->forward(items, pass).squeeze(1));
    return range_ ? range_->forward(rating, pass) : rating;
  }
  at::Tensor forward(const at::Tensor&, const Pass&) override {
    DDP_CHECK(false, "a table has two inputs");
    return {};
  }

 private:
  ColumnEmbedding* u_weight_ = nullptr;
  ColumnEmbedding* i_weight_ = nullptr;
  ColumnEmbedding* u_bias_ = nullptr;
  ColumnEmbedding* i_bias_ = nullptr;
  SigmoidRange* range_ = nullptr;
};

}  // namespace

Entry<Model> embedding_dot_bias_model() {
  return entry_of<Model, EmbeddingDotBias, EmbeddingDotBiasOptions>(
      "embedding_dot_bias",
      "A rating from the product of a user's and an item's vector and a bias of each; as fastai's.",
      {"takes_tables", "embeds u_weight.weight+u_bias.weight i_weight.weight+i_bias.weight"});
}

}  // namespace ddptrain
