#include "models/tabular/tabular_network.h"

#include <ATen/ops/cat.h>

#include "base/error.h"
#include "models/layers/lin_bn_drop.h"
#include "models/sizes.h"
#include "models/tabular/column_embedding.h"

namespace ddptrain {
namespace {

std::int64_t numbers_of(const ModelContext& context) {
  if (context.data.sample.size() == 1 &&
      context.data.sample[0] + static_cast<std::int64_t>(context.data.cardinalities.size()) > 0)
    return context.data.sample[0];
  throw Error(Exit::recipe, Option{"model"}, "tabular wants a table (data: {type: csv_table})");
}

std::vector<std::int64_t> widths_of(const TabularSettings& settings, const ModelContext& context) {
  const auto& values = context.data.cardinalities;
  if (settings.embedding_sizes.empty()) {
    std::vector<std::int64_t> widths;
    for (const auto count : values) widths.push_back(embedding_size(count));
    return widths;
  }
  if (settings.embedding_sizes.size() != values.size())
    throw Error(Exit::recipe, Option{"model.embedding_sizes"},
                std::to_string(settings.embedding_sizes.size()) + " widths for " +
                    std::to_string(values.size()) + " category columns");
  return settings.embedding_sizes;
}

std::vector<double> ps_of(const TabularSettings& settings) {
  const auto count = settings.layers.size();
  if (settings.ps.empty()) return std::vector<double>(count, 0.0);
  if (settings.ps.size() == 1) return std::vector<double>(count, settings.ps[0]);
  return settings.ps;
}

}  // namespace

void TabularSettings::fields(Fields& f) {
  f("layers", layers, {.doc = "Sizes of the hidden layers.", .min = 1});
  f("embedding_sizes", embedding_sizes,
    {.doc = "Width of each category's embedding; none takes fastai's rule, 1.6 n^0.56.", .min = 1});
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

class TabularNetwork::Embeddings final : public Module {
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

TabularNetwork::TabularNetwork(const TabularSettings& settings, std::int64_t outputs,
                               const ModelContext& context)
    : categories_(context.data.cardinalities.size()), numbers_(numbers_of(context)) {
  const auto widths = widths_of(settings, context);
  embeds_ = make<Embeddings>("embeds", context.data.cardinalities, widths, context.generator);
  emb_drop_ = make<Dropout>("emb_drop", settings.embed_p);
  if (settings.bn_cont) bn_cont_ = make<BatchNorm>("bn_cont", numbers_);
  std::int64_t features = numbers_;
  for (const auto width : widths) features += width;
  layers_ = make<Sequence>("layers");
  const auto ps = ps_of(settings);
  for (std::size_t i = 0; i < settings.layers.size(); ++i) {
    add_lin_bn_drop(*layers_->add<Sequence>(),
                    {.in = features,
                     .out = settings.layers[i],
                     .norm = settings.use_bn,
                     .p = ps[i],
                     .activation = settings.activation,
                     .lin_first = settings.lin_first},
                    context.generator);
    features = settings.layers[i];
  }
  add_lin_bn_drop(*layers_->add<Sequence>(),
                  {.in = features,
                   .out = outputs,
                   .norm = settings.use_bn && settings.bn_final,
                   .lin_first = settings.lin_first},
                  context.generator);
  add_range(*layers_, settings.y_range);
}

at::Tensor TabularNetwork::run(const std::vector<at::Tensor>& inputs, const Pass& pass) {
  std::vector<at::Tensor> parts;
  if (categories_ > 0)
    parts.push_back(emb_drop_->forward(embeds_->forward(inputs.at(0), pass), pass));
  if (numbers_ > 0)
    parts.push_back(bn_cont_ ? bn_cont_->forward(inputs.at(1), pass) : inputs.at(1));
  return layers_->forward(at::cat(parts, 1), pass);
}

at::Tensor TabularNetwork::forward(const at::Tensor&, const Pass&) {
  DDP_CHECK(false, "a table has two inputs");
  return {};
}

}  // namespace ddptrain
