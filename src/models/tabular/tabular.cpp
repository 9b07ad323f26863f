// fastai.tabular.model.TabularModel: embeddings of categories beside normalised numbers, then
// linear layers.
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialise.h"
#include "models/layers/lin_bn_drop.h"
#include "models/layers/norm.h"
#include "models/model.h"
#include "models/sizes.h"

namespace ddptrain {

namespace {

struct TabularOptions {
  Auto<std::int64_t> num_classes;
  std::vector<std::int64_t> layers{200, 100};
  std::vector<std::int64_t> embedding_sizes;
  std::vector<double> ps;
  double embed_p = 0;
  std::vector<double> y_range;
  bool use_bn = true;
  bool bn_final = false;
  bool bn_cont = true;
  bool lin_first = true;
  Activation activation = Activation::relu;
  void fields(Fields& f) {
    f("num_classes", num_classes,
      {.doc = "Outputs; auto takes the data's classes, or 1 where it predicts a number.",
       .min = 1});
    f("layers", layers, {.doc = "Sizes of the hidden layers.", .min = 1});
    f("embedding_sizes", embedding_sizes,
      {.doc = "Width of each category's embedding; none takes fastai's rule, 1.6 n^0.56.",
       .min = 1});
    f("ps", ps,
      {.doc = "Dropout after each hidden layer: one for all or one for each; none drops nothing.",
       .min = 0,
       .max = 1});
    f("embed_p", embed_p, {.doc = "Dropout of the embeddings.", .min = 0, .max = 1});
    y_range_field(f, y_range);
    f("use_bn", use_bn, {.doc = "Batch norm in the hidden layers."});
    f("bn_final", bn_final, {.doc = "Batch norm in the last layer as well."});
    f("bn_cont", bn_cont, {.doc = "Batch norm of the numbers before anything else."});
    f("lin_first", lin_first, {.doc = "Linear layers before their batch norm rather than after."});
    f("activation", activation, {.doc = "Activation of the hidden layers."});
    f.require(one_or_as_many("ps", "layers"));
  }
};

/// fastai.layers.Embedding: drawn twice, as nn.Embedding draws before it.
class ColumnEmbedding final : public Module {
 public:
  ColumnEmbedding(std::int64_t values, std::int64_t width, const at::Generator& generator)
      : weight_(parameter("weight", at::empty({values, width}))) {
    initialise::normal(weight_, 1, generator);
    initialise::normal(weight_, 1, generator);
    initialise::fold(weight_, 2, 0.01);
  }
  at::Tensor forward(const at::Tensor& codes, const Pass&) override {
    return at::embedding(weight_, codes);
  }

 private:
  at::Tensor weight_;
};

class Embeddings final : public Module {
 public:
  Embeddings(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& widths,
             const at::Generator& generator) {
    for (std::size_t i = 0; i < values.size(); ++i)
      each_.push_back(make<ColumnEmbedding>(std::to_string(i), values[i], widths[i], generator));
  }
  at::Tensor forward(const at::Tensor& codes, const Pass& pass) override {
    std::vector<at::Tensor> columns;
    for (std::size_t i = 0; i < each_.size(); ++i)
      columns.push_back(each_[i]->forward(codes.select(1, static_cast<std::int64_t>(i)), pass));
    return at::cat(columns, 1);
  }

 private:
  std::vector<ColumnEmbedding*> each_;
};

class Tabular final : public Model {
 public:
  Tabular(const TabularOptions& options, const ModelContext& context)
      : categories_(context.data.cardinalities.size()), numbers_(numbers_of(context)) {
    const auto widths = widths_of(options, context);
    embeds_ = make<Embeddings>("embeds", context.data.cardinalities, widths, context.generator);
    emb_drop_ = make<Dropout>("emb_drop", options.embed_p);
    if (options.bn_cont) bn_cont_ = make<BatchNorm>("bn_cont", numbers_);
    std::int64_t features = numbers_;
    for (const auto width : widths) features += width;
    layers_ = make<Sequence>("layers");
    const auto ps = ps_of(options);
    for (std::size_t i = 0; i < options.layers.size(); ++i) {
      add_lin_bn_drop(*layers_->add<Sequence>(),
                      {.in = features,
                       .out = options.layers[i],
                       .norm = options.use_bn,
                       .p = ps[i],
                       .activation = options.activation,
                       .lin_first = options.lin_first},
                      context.generator);
      features = options.layers[i];
    }
    add_lin_bn_drop(*layers_->add<Sequence>(),
                    {.in = features,
                     .out = outputs_of(options, context),
                     .norm = options.use_bn && options.bn_final,
                     .lin_first = options.lin_first},
                    context.generator);
    add_range(*layers_, options.y_range);
  }

  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) override {
    std::vector<at::Tensor> parts;
    if (categories_ > 0)
      parts.push_back(emb_drop_->forward(embeds_->forward(inputs.at(0), pass), pass));
    if (numbers_ > 0)
      parts.push_back(bn_cont_ ? bn_cont_->forward(inputs.at(1), pass) : inputs.at(1));
    return layers_->forward(at::cat(parts, 1), pass);
  }
  at::Tensor forward(const at::Tensor&, const Pass&) override {
    DDP_CHECK(false, "a table has two inputs");
    return {};
  }

 private:
  static std::int64_t numbers_of(const ModelContext& context) {
    if (context.data.sample.size() == 1 &&
        context.data.sample[0] + static_cast<std::int64_t>(context.data.cardinalities.size()) > 0)
      return context.data.sample[0];
    throw Error(Exit::recipe, Option{"model"}, "tabular wants a table (data: {type: csv_table})");
  }

  static std::vector<std::int64_t> widths_of(const TabularOptions& options,
                                             const ModelContext& context) {
    const auto& values = context.data.cardinalities;
    if (options.embedding_sizes.empty()) {
      std::vector<std::int64_t> widths;
      for (const auto count : values) widths.push_back(embedding_size(count));
      return widths;
    }
    if (options.embedding_sizes.size() != values.size())
      throw Error(Exit::recipe, Option{"model.embedding_sizes"},
                  std::to_string(options.embedding_sizes.size()) + " widths for " +
                      std::to_string(values.size()) + " category columns");
    return options.embedding_sizes;
  }

  static std::vector<double> ps_of(const TabularOptions& options) {
    const auto count = options.layers.size();
    if (options.ps.empty()) return std::vector<double>(count, 0.0);
    if (options.ps.size() == 1) return std::vector<double>(count, options.ps[0]);
    return options.ps;
  }

  static std::int64_t outputs_of(const TabularOptions& options, const ModelContext& context) {
    if (options.num_classes.automatic() && context.data.class_count() == 0) return 1;
    return classes_of(options.num_classes, context);
  }

  std::size_t categories_;
  std::int64_t numbers_;
  Embeddings* embeds_ = nullptr;
  Dropout* emb_drop_ = nullptr;
  BatchNorm* bn_cont_ = nullptr;
  Sequence* layers_ = nullptr;
};

}  // namespace

Entry<Model> tabular_model() {
  return entry<Model, TabularOptions>(
      "tabular", "Embeddings of categories beside numbers, then linear layers; as fastai's.",
      [](const TabularOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<Tabular>(options, context);
      },
      {"batch_norm", "dropout", "takes_tables"});
}

}  // namespace ddptrain
