// A small transformer that reads a text and classifies it (Vaswani et al. 2017, with the norms
// first).
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "base/names.h"
#include "models/layers/constant.h"
#include "models/layers/embedding.h"
#include "models/layers/initialize.h"
#include "models/layers/many_lengths.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/text/token_rows.h"
#include "models/text/transformer_encoder.h"

namespace ddptrain {
namespace {

enum class Positions { learned, sinusoidal };
std::span<const std::string_view> names(Positions) { return kNameList<"learned", "sinusoidal">; }

enum class TokenPooling { mean, first };
std::span<const std::string_view> names(TokenPooling) { return kNameList<"mean", "first">; }

struct TextTransformerOptions {
  Auto<std::int64_t> num_classes;
  std::int64_t dim = 128;
  std::int64_t num_layers = 2;
  std::int64_t num_heads = 4;
  std::int64_t mlp_dim = 512;
  std::int64_t max_len = 512;
  Positions positions = Positions::learned;
  TokenPooling pooling = TokenPooling::mean;
  Activation activation = Activation::gelu;
  double dropout = 0.1;
  void fields(Fields& f) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("dim", dim, {.doc = "Numbers that stand for a token.", .min = 1});
    f("num_layers", num_layers, {.doc = "Blocks of the encoder.", .min = 1});
    f("num_heads", num_heads, {.doc = "Heads of the attention.", .min = 1});
    f("mlp_dim", mlp_dim, {.doc = "Hidden numbers of a block's two-layer network.", .min = 1});
    f("max_len", max_len, {.doc = "Tokens of a text that are read, from its start.", .min = 1});
    f("positions", positions, {.doc = "How a token knows its place."});
    f("pooling", pooling, {.doc = "What a text is: the mean of its tokens, or its first token."});
    f("activation", activation, {.doc = "Activation of the two-layer networks."});
    f("dropout", dropout,
      {.doc = "Probability of dropping each element of embedding, attention weights and blocks.",
       .min = 0,
       .max = 1});
    f.require(divides("num_heads", "dim"));
    f.require(needs(is("positions", "sinusoidal"), multiple_of("dim", 2)));
  }
};

TransformerEncoderShape encoder_shape(const TextTransformerOptions& options) {
  return {.layers = options.num_layers,
          .heads = options.num_heads,
          .features = options.dim,
          .hidden = options.mlp_dim,
          .dropout = options.dropout,
          .activation = options.activation};
}

/// Vaswani et al. 2017, section 3.5: [places, dim], sines of all frequencies, then their cosines
/// (tensor2tensor's order).
at::Tensor sinusoids(std::int64_t places, std::int64_t dim) {
  const auto half = dim / 2;
  const auto step = -std::log(10000.0) / static_cast<double>(half);
  const auto frequency = at::arange(half, at::kDouble).mul(step).exp();
  const auto angle = at::arange(places, at::kDouble).unsqueeze(1).mul(frequency);
  return at::cat({angle.sin(), angle.cos()}, 1);
}

class TextTransformer final : public Model {
 public:
  TextTransformer(const TextTransformerOptions& options, const ModelContext& context)
      : options_(options), text_(text_facts_of(context, "text_transformer")) {
    const auto& generator = context.generator;
    const auto shape = encoder_shape(options);
    if (options.positions == Positions::learned) {
      pos_embedding_ = parameter("pos_embedding", at::empty({options.max_len, options.dim}));
      initialize::normal(pos_embedding_, 0.02, generator);
    }
    embedding_ =
        make<Embedding>("embedding", text_.vocabulary, options.dim, text_.padding, generator);
    initialize::normal(embedding_->weight(), 0.02, generator);
    dropout_ = make<Dropout>("dropout", options.dropout);
    encoder_ = make<TransformerEncoder>("encoder", shape, generator);
    head_ = make<Linear>("head", options.dim, classes_of(options.num_classes, context), generator);
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    const auto tokens = first_tokens(with_a_place(input, text_));
    const auto padded = tokens.eq(text_.padding);
    const auto places = place_vectors(tokens.size(1));
    const auto embedded = embedding_->forward(tokens, pass).add(places);
    // A text without a token attends to its first place: a softmax over nothing is not a number.
    const auto unseen = at::cat({at::zeros_like(padded.slice(1, 0, 1)), padded.slice(1, 1)}, 1);
    const auto encoded = encoder_->encode(dropout_->forward(embedded, pass), unseen, pass);
    return head_->forward(pooled(encoded, padded), pass);
  }

 private:
  /// Each row's first tokens, max_len at most, at the left; wherever they were padded.
  at::Tensor first_tokens(const at::Tensor& tokens) const {
    const auto length = std::min(tokens.size(1), options_.max_len);
    return at_the_left(tokens, text_.padding).slice(1, 0, length);
  }

  at::Tensor place_vectors(std::int64_t length) {
    if (pos_embedding_.defined()) return pos_embedding_.slice(0, 0, length);
    keep_constant(sinusoids_, embedding_->weight(),
                  [this] { return sinusoids(options_.max_len, options_.dim); });
    return sinusoids_.slice(0, 0, length);
  }

  at::Tensor pooled(const at::Tensor& encoded, const at::Tensor& padded) const {
    if (options_.pooling == TokenPooling::first) return encoded.select(1, 0);
    const auto tokens = padded.logical_not().sum(1).clamp_min(1).unsqueeze(1);
    return encoded.masked_fill(padded.unsqueeze(2), 0).sum(1).div(tokens);
  }

  const ManyLengths many_lengths_;
  TextTransformerOptions options_;
  TextFacts text_;
  at::Tensor pos_embedding_, sinusoids_;  // the one or the other
  Embedding* embedding_;
  Dropout* dropout_;
  TransformerEncoder* encoder_;
  Linear* head_;
};

}  // namespace

Entry<Model> text_transformer_model() {
  return entry_of<Model, TextTransformer, TextTransformerOptions>(
      "text_transformer", "A small transformer over a text, its norms first, then a linear layer.",
      {"blocks", "dropout", "takes_texts", "embeds embedding.weight"});
}

}  // namespace ddptrain
