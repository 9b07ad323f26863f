// Options of gpt2 under the names of transformers' GPT2Config, and the sizes that follow from them.
#pragma once

#include <span>
#include <string_view>

#include "config/units.h"
#include "models/language/gpt2_block.h"
#include "models/model.h"

namespace ddptrain {

enum class Gpt2Activation { gelu_new, gelu, relu };
std::span<const std::string_view> names(Gpt2Activation);

struct Gpt2Options {
  Auto<std::int64_t> vocabulary;
  Auto<std::int64_t> n_positions;
  Auto<std::int64_t> n_embd;
  Auto<std::int64_t> n_layer;
  Auto<std::int64_t> n_head;
  Auto<std::int64_t> n_inner;
  Auto<Gpt2Activation> activation_function;
  Auto<double> layer_norm_epsilon;
  Auto<bool> scale_attn_weights;
  Auto<bool> scale_attn_by_inverse_layer_idx;
  Auto<bool> tie_word_embeddings;
  bool reorder_and_upcast_attn = false;
  double embd_pdrop = 0.1;
  double attn_pdrop = 0.1;
  double resid_pdrop = 0.1;
  double initializer_range = 0.02;
  void fields(Fields& f) {
    size_fields(f);
    attention_fields(f);
    training_fields(f);
    f.require(divides("n_head", "n_embd"));
    f.require(always(unset("reorder_and_upcast_attn")));
  }

 private:
  void size_fields(Fields& f);
  void attention_fields(Fields& f);
  void training_fields(Fields& f);
};

/// The options with a value for each that is auto.
struct Gpt2Shape {
  /// Throws an Error (Exit::recipe) where the data are no tokens, or have more than `vocabulary`.
  Gpt2Shape(const Gpt2Options& options, const ModelContext& context);

  std::int64_t vocabulary, positions, width, layers, heads;
  double epsilon;
  bool tied;
  Gpt2BlockShape block;  // of the first layer
  Gpt2Activation activation;
  bool scaled, scaled_by_layer;
  double embd_pdrop, initializer_range;

  /// Of transformers' GPT2Config, as JSON.
  std::vector<std::pair<std::string, std::string>> published_config() const;
  Gpt2BlockShape block_of(std::int64_t layer) const {
    auto own = block;
    if (scaled_by_layer) own.attention_scale /= static_cast<double>(layer + 1);
    return own;
  }
};

}  // namespace ddptrain
