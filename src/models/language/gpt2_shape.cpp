#include "models/language/gpt2_shape.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "config/fields.h"

namespace ddptrain {
namespace {

Activation activation_of(Gpt2Activation activation) {
  if (activation == Gpt2Activation::relu) return Activation::relu;
  return activation == Gpt2Activation::gelu ? Activation::gelu : Activation::gelu_tanh;
}

/// The data's tokens, or more.
std::int64_t vocabulary_of(const Auto<std::int64_t>& written, const ModelContext& context) {
  const auto& data = context.data;
  if (data.cardinalities.size() != 1 || !data.sample.empty())
    throw Error(Exit::recipe, Option{"model"},
                "gpt2 continues texts; write 'task: language_model' in 'data'");
  const auto tokens = data.cardinalities[0];
  if (written.value.value_or(tokens) < tokens)
    throw Error(Exit::recipe, Option{"model.vocabulary"},
                "the data have {} tokens, more than {}; write 'auto' or a larger number", tokens,
                *written.value);
  return written.value.value_or(tokens);
}

}  // namespace

std::span<const std::string_view> names(Gpt2Activation) {
  return kNameList<"gelu_new", "gelu", "relu">;
}

void Gpt2Options::size_fields(Fields& f) {
  f("vocabulary", vocabulary,
    {.doc = "Tokens that have a vector; auto takes those of the weights' config.json, or the "
            "data's. A larger number leaves some unused.",
     .min = 1});
  f("n_positions", n_positions,
    {.doc = "Tokens that the model can read; auto: as the weights' config.json, or 1024.",
     .min = 1});
  f("n_embd", n_embd,
    {.doc = "Numbers that stand for a token; auto: as the weights' config.json, or 768.",
     .min = 1});
  f("n_layer", n_layer, {.doc = "Blocks; auto: as the weights' config.json, or 12.", .min = 1});
  f("n_head", n_head,
    {.doc = "Heads of the attention; auto: as the weights' config.json, or 12.", .min = 1});
  f("n_inner", n_inner,
    {.doc = "Hidden numbers of a block's two-layer network; auto: as the weights' config.json, or "
            "4 x n_embd.",
     .min = 1});
  f("tie_word_embeddings", tie_word_embeddings,
    {.doc = "Whether the last layer has the weights of the embedding; auto: as the weights' "
            "config.json, or true."});
}

void Gpt2Options::attention_fields(Fields& f) {
  f("activation_function", activation_function,
    {.doc = "Activation of the two-layer networks; gelu_new is the tanh approximation; auto: as "
            "the weights' config.json, or gelu_new."});
  f("layer_norm_epsilon", layer_norm_epsilon,
    {.doc = "Added to the variance in norms; auto: as the weights' config.json, or 1e-5.",
     .min = 0,
     .above_min = true});
  f("scale_attn_weights", scale_attn_weights,
    {.doc = "Whether scores are divided by the square root of a head's width; auto: as the "
            "weights' config.json, or true."});
  f("scale_attn_by_inverse_layer_idx", scale_attn_by_inverse_layer_idx,
    {.doc = "Whether scores of layer i, from 1, are divided by i too; auto: as the weights' "
            "config.json, or false."});
  f("reorder_and_upcast_attn", reorder_and_upcast_attn,
    {.doc = "Must be false: sums of the attention are in single precision anyway."});
}

void Gpt2Options::training_fields(Fields& f) {
  f("embd_pdrop", embd_pdrop,
    {.doc = "Probability of dropping each element of the embedding.", .min = 0, .max = 1});
  f("attn_pdrop", attn_pdrop,
    {.doc = "Probability of dropping each attention weight.", .min = 0, .max = 1});
  f("resid_pdrop", resid_pdrop,
    {.doc = "Probability of dropping each element that a block adds.", .min = 0, .max = 1});
  f("initializer_range", initializer_range,
    {.doc = "Standard deviation of the first weights.", .min = 0, .above_min = true});
}

Gpt2Shape::Gpt2Shape(const Gpt2Options& options, const ModelContext& context)
    : vocabulary(vocabulary_of(options.vocabulary, context)),
      positions(options.n_positions.value.value_or(1024)),
      width(options.n_embd.value.value_or(768)),
      layers(options.n_layer.value.value_or(12)),
      heads(options.n_head.value.value_or(12)),
      epsilon(options.layer_norm_epsilon.value.value_or(1e-5)),
      tied(options.tie_word_embeddings.value.value_or(true)),
      activation(options.activation_function.value.value_or(Gpt2Activation::gelu_new)),
      scaled(options.scale_attn_weights.value.value_or(true)),
      scaled_by_layer(options.scale_attn_by_inverse_layer_idx.value.value_or(false)),
      embd_pdrop(options.embd_pdrop),
      initializer_range(options.initializer_range) {
  if (width % heads != 0)
    throw Error(Exit::recipe, Option{"model.n_head"}, "'n_head: {}' does not divide 'n_embd: {}'",
                heads, width);
  const auto features = static_cast<double>(width / heads);
  block = {.width = width,
           .heads = heads,
           .inner = options.n_inner.value.value_or(4 * width),
           .activation = activation_of(activation),
           .epsilon = epsilon,
           .attention_scale = scaled ? 1 / std::sqrt(features) : 1,
           .attn_pdrop = options.attn_pdrop,
           .resid_pdrop = options.resid_pdrop};
}

std::vector<std::pair<std::string, std::string>> Gpt2Shape::published_config() const {
  const auto yes = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto whole = [](std::int64_t value) { return std::to_string(value); };
  const auto number = [](double value) {
    const auto text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  };
  const auto word = std::string(names(activation)[static_cast<std::size_t>(activation)]);
  return {{"model_type", "\"gpt2\""},
          {"architectures", "[\"GPT2LMHeadModel\"]"},
          {"vocab_size", whole(vocabulary)},
          {"n_positions", whole(positions)},
          {"n_embd", whole(width)},
          {"n_layer", whole(layers)},
          {"n_head", whole(heads)},
          {"n_inner", block.inner == 4 * width ? "null" : whole(block.inner)},
          {"activation_function", fmt::format("\"{}\"", word)},
          {"embd_pdrop", number(embd_pdrop)},
          {"attn_pdrop", number(block.attn_pdrop)},
          {"resid_pdrop", number(block.resid_pdrop)},
          {"layer_norm_epsilon", number(epsilon)},
          {"initializer_range", number(initializer_range)},
          {"scale_attn_weights", yes(scaled)},
          {"scale_attn_by_inverse_layer_idx", yes(scaled_by_layer)},
          {"reorder_and_upcast_attn", "false"},
          {"tie_word_embeddings", yes(tied)}};
}

}  // namespace ddptrain
