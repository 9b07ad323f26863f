#include "export/exported_models.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/shape.h"
#include "models/nets.h"

namespace ddptrain::test {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

/// What a network is tried with: options in each row, on samples of one size.
struct Tried {
  std::string type;
  std::vector<json> options;
  Sizes sample{3, 32, 32};
};

const json kActivations{"leaky_relu", "elu",        "gelu",         "silu",       "swish",
                        "mish",       "hard_swish", "hard_sigmoid", "relu6",      "sigmoid",
                        "tanh",       "none",       "relu",         "quick_gelu", "gelu_tanh"};

/// On data as a network of this name reads them; images are 32 pixels high where `sample` says
/// nothing else.
ExportedModel exported(const std::string& type, const json& options = json::object(),
                       Sizes sample = {}) {
  const auto& entry = *catalog<Model>().find(type);
  ExportedModel model{type, with({{"type", type}}, options), Reads::images, {}};
  auto& facts = model.facts;
  facts.classes = {"a", "b", "c"};
  facts.sample = std::move(sample);
  if (entry.has("takes_texts")) {
    model.reads = Reads::texts;
    facts.cardinalities = {30}, facts.padding = 1;
  } else if (type == "collab_nn" || type == "embedding_dot_bias") {
    model.reads = Reads::rows;
    facts = {};
    facts.sample = {0}, facts.cardinalities = {9, 11}, facts.numbers = 1;
  } else if (entry.has("takes_tables")) {
    model.reads = Reads::rows;
    facts.sample = {4}, facts.cardinalities = {5, 7};
  } else if (facts.sample.empty()) {
    facts.sample = {3, 32, 32};
    if (type == "mnist_net") facts.sample = {1, 28, 28};
    if (type == "alexnet") facts.sample = {3, 64, 64};
    if (type.ends_with("_14")) facts.sample = {3, 28, 28};  // whole patches
  }
  return model;
}

std::vector<json> each(const char* option, const json& values,
                       const json& others = json::object()) {
  std::vector<json> all;
  for (const auto& value : values) all.push_back(with(others, {{option, value}}));
  return all;
}

std::vector<Tried> networks_of_images() {
  const json small{{"widen", 0.25}, {"stem", {8, 8, 16}}};
  const json vit{{"patch_size", 8},  {"num_layers", 2}, {"num_heads", 2},
                 {"hidden_dim", 16}, {"mlp_dim", 24},   {"image_size", 40}};
  return {
      {"alexnet", {{{"dropout", 0.1}, {"in_channels", 1}}}, {1, 63, 79}},
      {"convnext_tiny", {{{"stochastic_depth_prob", 0.2}, {"layer_scale", 0.1}}}, {3, 45, 61}},
      {"densenet121", {{{"drop_rate", 0.1}}}, {3, 45, 61}},
      {"efficientnet_b0", {{{"dropout", 0.1}, {"stochastic_depth_prob", 0.1}}}, {3, 45, 61}},
      {"mnist_net",
       {{{"log_softmax", true}, {"conv_dropout", 0.1}, {"dropout", 0.1}, {"in_channels", 1}}},
       {1, 28, 28}},
      {"mobilenet_v2", {{{"width_mult", 0.5}, {"dropout", 0.1}}}, {3, 45, 61}},
      {"mobilenet_v3_large",
       {{{"width_mult", 0.5}, {"dropout", 0.1}, {"dilated", true}}},
       {3, 45, 61}},
      {"mobilenet_v3_small", {{{"dilated", true}, {"norm_eps", 1e-5}}}, {1, 45, 61}},
      {"regnet_y_400mf", {json::object()}, {1, 45, 61}},
      {"resnet18", {{{"zero_init_residual", true}}}, {1, 45, 61}},
      {"resnet50", {{{"dilated", true}}}, {3, 45, 61}},
      {"squeezenet1_1", {{{"dropout", 0.1}}}, {1, 45, 61}},
      {"swin_t",
       {{{"dropout", 0.1}, {"attention_dropout", 0.1}, {"stochastic_depth_prob", 0.1}}},
       {3, 45, 61}},
      {"deit_s_16", {{{"distilled", true}}}, {3, 32, 32}},
      {"dinov2_s_14", {{{"registers", 4}}}, {3, 28, 28}},
      {"vit",
       {with(vit, {{"representation_size", 12}, {"dropout", 0.1}, {"attention_dropout", 0.1}}),
        with(vit, {{"registers", 4}, {"class_positions", false}, {"layer_scale", 0.5}}),
        with(vit, {{"distilled", true}}),
        with(vit, {{"pre_norm", true}, {"norm_eps", 1e-5}, {"activation", "quick_gelu"}}),
        with(vit, {{"pool", "attention"}, {"activation", "gelu_tanh"}})},
       {3, 40, 40}},
      {"vision_learner", {{{"body", with(vit, {{"type", "vit"}})}}}, {3, 40, 40}},
      {"clip_b_32", {{{"activation", "gelu"}}}, {3, 32, 32}},
      {"deit_ti_16", {{{"distilled", true}}}, {3, 32, 32}},
      {"dinov2_s_14", {{{"registers", 4}}}, {3, 28, 28}},
      {"siglip_b_16", {{{"activation", "gelu_tanh"}}}, {3, 32, 32}},
      {"xresnet18",
       {{{"pool", "max"}, {"self_attention", true}, {"activation", "mish"}},
        {{"pool", "max_blur"}, {"stem_pool", "max_blur"}, {"sym", true}, {"dropout", 0.1}}},
       {3, 37, 45}},
      {"xresnet18", {with(small, {{"pool", "average"}, {"in_channels", 1}})}, {1, 37, 45}},
      {"xse_resnext50",
       {{{"pool", "max_blur"}, {"self_attention", true}, {"activation", "mish"}}},
       {3, 45, 61}},
  };
}

/// Networks on a body: of sizes that are no multiple of the body's strides, too.
std::vector<Tried> networks_on_bodies() {
  const json tiny{{"type", "xresnet18"}, {"widen", 0.25}, {"stem", {8, 8, 16}}};
  const json resnet{{"body", "resnet18"}}, small{{"body", tiny}};
  const json vit{{"type", "vit"},    {"patch_size", 8}, {"num_layers", 2}, {"num_heads", 2},
                 {"hidden_dim", 16}, {"mlp_dim", 24},   {"image_size", 40}};
  return {
      {"vision_learner",
       {resnet,
        with(small, {{"concat_pool", false}, {"lin_ftrs", {16, 8}}, {"ps", 0.2}}),
        with(small, {{"first_bn", false}, {"bn_final", true}, {"lin_first", true}}),
        with(small, {{"y_range", {-1, 1}}}),
        {{"body", "densenet121"}},
        {{"body", "squeezenet1_1"}}},
       {3, 45, 61}},
      {"vision_learner", {{{"body", vit}}}, {3, 40, 40}},
      {"unet", {resnet, small}, {3, 32, 64}},
      {"unet",
       {resnet, with(small, {{"self_attention", true}, {"blur", true}}),
        with(small, {{"blur", true}, {"blur_final", false}, {"activation", "mish"}}),
        with(small, {{"last_cross", false}}), with(small, {{"bottle", true}}),
        with(small, {{"y_range", {0, 1}}}), small},
       {3, 45, 61}},
      {"unet",
       {{{"body", "vgg11"}},
        {{"body", "squeezenet1_1"}},
        {{"body", "densenet121"}},
        {{"body", "mobilenet_v3_small"}},
        {{"body", "efficientnet_b0"}}},
       {3, 33, 35}},
      {"unet", {small}, {3, 33, 127}},
      {"unet", {{{"body", "alexnet"}}}, {3, 100, 224}},
      {"fcn", {resnet, {{"body", "vgg11"}}, with(small, {{"aux_loss", 0.5}})}, {3, 45, 61}},
      {"fcn", {{{"body", "resnet50"}, {"dilated", false}}}, {3, 32, 32}},
      {"deeplabv3",
       {resnet,
        {{"body", "resnet50"}, {"dilated", true}, {"aux_loss", 0.5}},
        {{"body", "mobilenet_v3_small"}, {"dilated", false}}},
       {3, 33, 45}},
  };
}

/// All layers, with all of their options.
std::vector<Tried> chains_of_layers() {
  const json layers{
      json{{"type", "conv"},
           {"out", 8},
           {"kernel", 5},
           {"stride", 2},
           {"padding", 2},
           {"bias", false}},
      json{{"type", "batch_norm"}, {"eps", 1e-3}, {"momentum", nullptr}, {"affine", false}},
      json{{"type", "activation"}, {"function", "mish"}},
      json{{"type", "conv"}, {"out", 8}, {"groups", 4}},
      "batch_norm",
      "relu",
      json{{"type", "max_pool"}, {"kernel", 3}, {"stride", 2}, {"padding", 1}},
      "identity",
      json{{"type", "dropout"}, {"p", 0.2}},
      json{{"type", "adaptive_avg_pool"}, {"size", 3}},
      "flatten",
      json{{"type", "linear"}, {"out", 7}},
      "relu",
      json{{"type", "linear"}, {"out", "auto"}}};
  const json pooled{"flatten", json{{"type", "linear"}}};
  return {{"sequential", {{{"layers", layers}}}, {3, 45, 61}},
          {"sequential", {{{"layers", pooled}}}, {1, 9, 7}},
          {"mlp",
           each("activation", kActivations,
                {{"hidden", {9, 7}}, {"batch_norm", true}, {"dropout", 0.1}}),
           {3, 5, 7}}};
}

std::vector<ExportedModel> networks_of_rows() {
  const std::vector<json> options{
      {{"layers", {9, 7}}, {"ps", {0.1, 0.2}}, {"embed_p", 0.1}, {"activation", "silu"}},
      {{"use_bn", false}, {"y_range", {0, 5.5}}},
      {{"bn_final", true}, {"bn_cont", false}},
      {{"lin_first", false}, {"embedding_sizes", {3, 4}}},
      {{"linear_skip", true}, {"y_scale", {20.5, 3}}}};
  std::vector<ExportedModel> all;
  for (const auto& each : options)
    for (const auto* type : {"tabular", "collab_nn"}) all.push_back(exported(type, each));
  all.push_back(exported("embedding_dot_bias", {{"n_factors", 5}, {"y_range", {0, 5.5}}}));
  all.push_back(exported("tabular"));
  all.back().facts.cardinalities = {};
  all.push_back(exported("tabular"));
  all.back().facts.sample = {0};
  return all;
}

std::vector<ExportedModel> networks_of_texts() {
  std::vector<ExportedModel> all;
  const auto add = [&](const char* type, const json& options, std::int64_t tokens) {
    all.push_back(exported(type, options));
    all.back().tokens = tokens;
  };
  for (const auto* pooling : {"sum", "mean", "max"})
    for (const int ngrams : {1, 2, 3})
      for (const int tokens : {1, 2, 17})
        add("bag_of_embeddings",
            {{"pooling", pooling}, {"ngrams", ngrams}, {"buckets", 40}, {"dim", 8}}, tokens);
  add("bag_of_embeddings",
      {{"hidden", {6, 5}}, {"activation", "mish"}, {"dropout", 0.3}, {"token_dropout", 0.2}}, 17);
  const json tiny{{"dim", 12}, {"num_heads", 3}, {"mlp_dim", 16}, {"num_layers", 1}};
  for (const auto* positions : {"learned", "sinusoidal"})
    for (const auto* pooling : {"mean", "first"})
      add("text_transformer",
          with(tiny, {{"positions", positions}, {"pooling", pooling}, {"max_len", 256}}), 1);
  add("text_transformer", with(tiny, {{"max_len", 8}, {"dropout", 0.2}, {"activation", "silu"}}),
      17);
  return all;
}

/// Networks of hundreds of megabytes, and larger ones of layers that a row has: rows of `vit`, and
/// of vgg11 as a body, have what is in their graphs.
bool is_larger(const std::string& name) {
  static const std::set<std::string> larger{
      "convnext_base", "convnext_small",  "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
      "resnet101",     "resnet152",       "swin_b",          "swin_s",          "vgg11",
      "vgg16_bn",      "wide_resnet50_2", "xresnet101"};
  const auto begins = [&](const char* word) { return name.starts_with(word); };
  return larger.contains(name) || begins("vit") || begins("deit_") || begins("dinov2_") ||
         begins("clip_") || begins("siglip_");
}

/// Every other network by its name alone, where that is enough.
std::vector<ExportedModel> by_name() {
  std::vector<ExportedModel> all;
  for (std::size_t i = 0; i < catalog<Model>().size(); ++i) {
    const auto& entry = catalog<Model>().at(i);
    const auto& options = entry.shape().children;
    const bool more_is_needed =
        std::any_of(options.begin(), options.end(), [](const auto& each) { return each.required; });
    const bool has_a_graph =
        !trait_argument(entry, "reads_segments") && !entry.has("continues_texts");
    if (!more_is_needed && !is_larger(entry.name) && has_a_graph)
      all.push_back(exported(entry.name));
  }
  return all;
}

/// Rows of texts of different lengths, padded by 1 in front as the loader does: whole ones, ones
/// that lack a token or two, and ones that are padding for the most part.
at::Tensor texts(std::int64_t rows, std::int64_t tokens) {
  std::vector<at::Tensor> all;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto padding = std::clamp<std::int64_t>(row % 4 < 3 ? row % 4 : tokens - 2, 0, tokens);
    all.push_back(at::cat(
        {at::full({padding}, 1, at::kLong), at::randint(2, 30, {tokens - padding}, at::kLong)}));
  }
  return at::stack(all);
}

at::Tensor columns(const std::vector<std::int64_t>& cardinalities, std::int64_t rows) {
  std::vector<at::Tensor> all;
  for (const auto count : cardinalities) all.push_back(at::randint(0, count, {rows}, at::kLong));
  return all.empty() ? at::empty({rows, 0}, at::kLong) : at::stack(all, 1);
}

}  // namespace

std::vector<ExportedModel> exported_models() {
  auto all = by_name();
  for (const auto& tried : {networks_of_images(), networks_on_bodies(), chains_of_layers()})
    for (const auto& network : tried)
      for (const auto& options : network.options)
        all.push_back(exported(network.type, options, network.sample));
  for (const auto& more : {networks_of_rows(), networks_of_texts()})
    all.insert(all.end(), more.begin(), more.end());
  std::map<std::string, int> seen;
  for (auto& model : all)
    if (const auto before = seen[model.name]++) model.name += "_" + std::to_string(before);
  return all;
}

std::vector<at::Tensor> inputs_of(const ExportedModel& model, std::int64_t rows,
                                  std::int64_t tokens) {
  auto shape = model.facts.sample;
  shape.insert(shape.begin(), rows);
  switch (model.reads) {
    case Reads::images:
      return {at::rand(shape)};
    case Reads::rows:
      return {columns(model.facts.cardinalities, rows), at::rand(shape)};
    case Reads::texts:
      return {texts(rows, tokens)};
  }
  return {};
}

std::unique_ptr<Model> made(const ExportedModel& model) {
  auto net = make_model(model.recipe, {model.facts, seeded(3)});
  for (const auto& buffer : net->named_buffers())
    if (buffer.tensor.is_floating_point())
      buffer.tensor.copy_(at::rand(buffer.tensor.sizes()).add(0.5));
  return net;
}

}  // namespace ddptrain::test
