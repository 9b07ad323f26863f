#include "models/tabular/tabular_network.h"

#include <ATen/ops/cat.h>

#include <numeric>

#include "base/error.h"
#include "models/layers/convolution.h"
#include "models/layers/initialize.h"
#include "models/layers/lin_bn_drop.h"
#include "models/sizes.h"
#include "models/tabular/column_embedding.h"
#include "models/tabular/table_features.h"

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
    throw Error(Exit::recipe, Option{"model.embedding_sizes"}, "{} widths for {} category columns",
                settings.embedding_sizes.size(), values.size());
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
  f("y_scale", y_scale,
    {.doc = "[mean, deviation] of the targets: outputs are multiplied by the deviation, and the "
            "mean is added, so that the layers learn numbers of mean 0 and deviation 1; none "
            "leaves them as they are.",
     .lengths = {0, 2}});
  f("linear_skip", linear_skip,
    {.doc = "A linear layer from the inputs to the outputs, added to what the others give, which "
            "begin at 0: learning starts with a straight line (Wide & Deep, Cheng et al., 2016)."});
  f("use_bn", use_bn, {.doc = "Batch norm in the hidden layers."});
  f("bn_final", bn_final, {.doc = "Batch norm in the last layer as well."});
  f("bn_cont", bn_cont, {.doc = "Batch norm of the numbers before anything else."});
  f("lin_first", lin_first, {.doc = "Linear layers before their batch norm rather than after."});
  f("activation", activation, {.doc = "Activation of the hidden layers."});
  f.require(one_or_as_many("ps", "layers"));
  f.require(not_both("y_range", "y_scale"));
  f.require(not_both("y_range", "linear_skip"));
  f.require(not_both("bn_final", "linear_skip"));
}

namespace {

void start_at_zero(const Linear& linear) {
  initialize::constant(linear.weight(), 0);
  initialize::constant(linear.bias(), 0);
}

std::vector<double> checked_scale(const std::vector<double>& y_scale) {
  if (y_scale.empty() || y_scale[1] > 0) return y_scale;
  throw Error(Exit::recipe, Option{"model.y_scale"},
              "the deviation, its second number, is to be above 0");
}

/// fastai's LinBnDrop for each of `settings.layers`. Returns the features of the last.
std::int64_t add_hidden_layers(Sequence& layers, const TabularSettings& settings,
                               std::int64_t features, const at::Generator& generator) {
  const auto ps = ps_of(settings);
  for (std::size_t i = 0; i < settings.layers.size(); ++i) {
    add_lin_bn_drop(*layers.add<Sequence>(),
                    {.in = features,
                     .out = settings.layers[i],
                     .norm = settings.use_bn,
                     .p = ps[i],
                     .activation = settings.activation,
                     .lin_first = settings.lin_first},
                    generator);
    features = settings.layers[i];
  }
  return features;
}

}  // namespace

class TabularNetwork::Embeddings final : public Module {
 public:
  Embeddings(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& widths,
             const at::Generator& generator) {
    for (std::size_t i = 0; i < values.size(); ++i)
      weights_.push_back(each_
                             .emplace_back(make<ColumnEmbedding>(std::to_string(i), values[i],
                                                                 widths[i], generator))
                             ->weight());
  }
  const std::vector<at::Tensor>& weights() const { return weights_; }
  at::Tensor forward(const at::Tensor& codes, const Pass& pass) override {
    std::vector<at::Tensor> columns;
    for (std::size_t i = 0; i < each_.size(); ++i)
      columns.push_back(each_[i]->forward(codes.select(1, static_cast<std::int64_t>(i)), pass));
    return at::cat(columns, 1);
  }

 private:
  std::vector<ColumnEmbedding*> each_;
  std::vector<at::Tensor> weights_;
};

TabularNetwork::TabularNetwork(const TabularSettings& settings, std::int64_t outputs,
                               const ModelContext& context)
    : categories_(context.data.cardinalities.size()),
      numbers_(numbers_of(context)),
      y_scale_(checked_scale(settings.y_scale)) {
  const auto widths = widths_of(settings, context);
  embeds_ = make<Embeddings>("embeds", context.data.cardinalities, widths, context.generator);
  emb_drop_ = make<Dropout>("emb_drop", settings.embed_p);
  if (settings.bn_cont) bn_cont_ = make<BatchNorm>("bn_cont", numbers_);
  const auto inputs = std::accumulate(widths.begin(), widths.end(), numbers_);
  layers_ = make<Sequence>("layers");
  const auto features = add_hidden_layers(*layers_, settings, inputs, context.generator);
  auto& last = *layers_->add<Sequence>();
  add_lin_bn_drop(last,
                  {.in = features,
                   .out = outputs,
                   .norm = settings.use_bn && settings.bn_final,
                   .lin_first = settings.lin_first},
                  context.generator);
  add_range(*layers_, settings.y_range);
  if (!settings.linear_skip) return;
  skip_ = make<Linear>("skip", inputs, outputs, context.generator);
  start_at_zero(*skip_);
  start_at_zero(dynamic_cast<const Linear&>(*last.children().back()));
}

at::Tensor TabularNetwork::features_of(const std::vector<at::Tensor>& inputs, const Pass& pass) {
  TableInputs table;
  table.embeddings = embeds_->weights();
  table.dropout = emb_drop_;
  table.norm = bn_cont_;
  if (categories_ > 0) table.codes = inputs.at(0);
  if (numbers_ > 0) table.numbers = inputs.at(1);
  if (auto features = table_features(table, pass); features.defined()) return features;
  std::vector<at::Tensor> parts;
  if (categories_ > 0)
    parts.push_back(emb_drop_->forward(embeds_->forward(inputs.at(0), pass), pass));
  if (numbers_ > 0)
    parts.push_back(bn_cont_ ? bn_cont_->forward(inputs.at(1), pass) : inputs.at(1));
  return at::cat(parts, 1);
}

at::Tensor TabularNetwork::run(const std::vector<at::Tensor>& inputs, const Pass& pass) {
  const auto features = features_of(inputs, pass);
  auto output = layers_->forward(features, pass);
  if (skip_) output = output.add(skip_->forward(features, pass));
  if (y_scale_.empty()) return output;
  const auto type = output.scalar_type();  // half precision holds no prices
  if (type == at::kHalf || type == at::kBFloat16) output = output.to(at::kFloat);
  return output.mul(y_scale_[1]).add(y_scale_[0]);
}

at::Tensor TabularNetwork::forward(const at::Tensor&, const Pass&) {
  DDP_CHECK(false, "a table has two inputs");
  return {};
}

}  // namespace ddptrain
