// A text as the mean (or sum, or largest) of the embeddings of its tokens and, where asked for, of
// its n-grams; fastText's classifier (Joulin et al. 2017).
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include "base/names.h"
#include "base/random.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/model.h"
#include "models/operators/dropout_mask.h"
#include "models/sizes.h"

namespace ddptrain {
namespace {

enum class BagPooling { sum, mean, max };  // numbered as torch's modes of embedding_bag
std::span<const std::string_view> names(BagPooling) { return kNameList<"sum", "mean", "max">; }

struct BagOfEmbeddingsOptions {
  Auto<std::int64_t> num_classes;
  std::int64_t dim = 64;
  BagPooling pooling = BagPooling::mean;
  std::int64_t ngrams = 1;
  std::int64_t buckets = 200000;
  std::vector<std::int64_t> hidden;
  Activation activation = Activation::relu;
  double dropout = 0;
  double token_dropout = 0;
  void fields(Fields& f) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("dim", dim, {.doc = "Width of the embeddings.", .min = 1});
    f("pooling", pooling, {.doc = "What a text is of its embeddings, padding left out."});
    f("ngrams", ngrams,
      {.doc = "Longest runs of tokens that have an embedding of their own; 1: single tokens only.",
       .min = 1});
    f("buckets", buckets,
      {.doc = "Embeddings that all longer runs share, by a hash of their tokens.", .min = 1});
    f("hidden", hidden, {.doc = "Sizes of hidden layers after the pooling.", .min = 1});
    f("activation", activation, {.doc = "Activation of the hidden layers."});
    f("dropout", dropout,
      {.doc = "Dropout of the pooled text and of each hidden layer.", .min = 0, .max = 1});
    f("token_dropout", token_dropout,
      {.doc = "Probability of leaving a token or run out of a text.",
       .min = 0,
       .max = 1,
       .below_max = true});
  }
};

/// torch.nn.EmbeddingBag of rows that are filled up with a padding number. Runs are hashed by
/// `codes`, one of each token: at first its number. Where weights move to another vocabulary, a
/// token keeps its code, and so every run its embedding.
class Bag final : public Module {
 public:
  Bag(const BagOfEmbeddingsOptions& options, const TextFacts& text, const at::Generator& generator)
      : options_(options), text_(text) {
    const auto runs = options.ngrams > 1 ? options.buckets : 0;
    weight_ = parameter("weight", at::empty({text.vocabulary + runs, options.dim}));
    initialize::uniform(weight_, 1 / static_cast<double>(options.dim), generator);
    initialize::constant(weight_.detach().select(0, text.padding), 0);
    if (runs > 0) codes_ = buffer("codes", at::arange(text.vocabulary, at::kLong).unsqueeze(1));
  }

  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override {
    const auto kept = drop(with_runs(tokens), pass);
    const auto starts = at::arange(kept.size(0), kept.options()).mul(kept.size(1));
    auto pooled = std::get<0>(at::embedding_bag(
        weight_, kept.flatten(), starts, /*scale_grad_by_freq=*/false,
        static_cast<std::int64_t>(options_.pooling), /*sparse=*/false, /*per_sample_weights=*/{},
        /*include_last_offset=*/false, text_.padding));
    const bool thinned = pass.training && options_.pooling == BagPooling::sum;
    return thinned ? pooled.div(1 - options_.token_dropout) : pooled;
  }

 private:
  /// The tokens [rows, T], then a number for each run of 2 .. ngrams tokens: fastText's hash of
  /// their codes. A run that holds padding is padding.
  at::Tensor with_runs(const at::Tensor& tokens) const {
    if (!codes_.defined()) return tokens;
    std::vector<at::Tensor> all{tokens};
    const auto codes = at::embedding(codes_, tokens).squeeze(2);
    auto hash = codes;
    auto padded = tokens.eq(text_.padding);
    for (std::int64_t n = 2; n <= std::min(options_.ngrams, tokens.size(1)); ++n) {
      const auto next = tokens.slice(1, n - 1);
      hash = hash.slice(1, 0, next.size(1)).mul(116049371).add(codes.slice(1, n - 1));
      padded = padded.slice(1, 0, next.size(1)).logical_or(next.eq(text_.padding));
      const auto bucket = hash.remainder(options_.buckets).add(text_.vocabulary);
      all.push_back(bucket.masked_fill(padded, text_.padding));
    }
    return at::cat(all, 1);
  }

  /// What is dropped becomes padding.
  at::Tensor drop(const at::Tensor& numbers, const Pass& pass) const {
    if (!pass.training || options_.token_dropout == 0 || numbers.numel() == 0) return numbers;
    const auto rows =
        mask_rows(pass, mix(pass.seed, hash_text(path())), numbers.size(0), numbers.size(1));
    const auto ones = at::ones(numbers.sizes(), weight_.options());
    const auto dropped = ddptrain::drop(ones, rows, options_.token_dropout).eq(0);
    return numbers.masked_fill(dropped, text_.padding);
  }

  BagOfEmbeddingsOptions options_;
  TextFacts text_;
  at::Tensor weight_;
  at::Tensor codes_;  // whole numbers [vocabulary, 1]; undefined where there are no runs
};

class BagOfEmbeddings final : public SequentialModel {
 public:
  BagOfEmbeddings(const BagOfEmbeddingsOptions& options, const ModelContext& context) {
    append("embedding", std::make_unique<Bag>(options, text_facts_of(context, "bag_of_embeddings"),
                                              context.generator));
    auto features = options.dim;
    auto layers = std::make_unique<Sequence>();
    if (options.dropout > 0) layers->add<Dropout>(options.dropout);
    for (const auto hidden : options.hidden) {
      layers->add<Linear>(features, hidden, context.generator);
      layers->add<Activate>(options.activation);
      if (options.dropout > 0) layers->add<Dropout>(options.dropout);
      features = hidden;
    }
    layers->add<Linear>(features, classes_of(options.num_classes, context), context.generator);
    append("layers", std::move(layers));
  }
};

}  // namespace

Entry<Model> bag_of_embeddings_model() {
  return entry_of<Model, BagOfEmbeddings, BagOfEmbeddingsOptions>(
      "bag_of_embeddings", "A text as the mean of its tokens' embeddings; fastText's classifier.",
      {"dropout", "takes_texts", "varies_on_cuda pooling=max",
       "embeds embedding.weight+embedding.codes"});
}

}  // namespace ddptrain
