// GPT-2 (Radford et al. 2019), as transformers.GPT2LMHeadModel computes and names it.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <optional>

#include "models/blocks.h"
#include "models/language/gpt2_shape.h"
#include "models/layers/chain.h"
#include "models/layers/initialize.h"
#include "models/layers/many_lengths.h"
#include "models/model.h"
#include "models/recompute.h"

namespace ddptrain {
namespace {

constexpr double conv1d_deviation = 0.02;

/// A parameter `weight` by itself: rows of vectors, or the last layer's.
class WeightTable final : public Module {
 public:
  explicit WeightTable(at::Tensor weight) : weight_(parameter("weight", std::move(weight))) {}
  at::Tensor forward(const at::Tensor& numbers, const Pass&) override {
    return at::embedding(weight_, numbers);
  }
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
};

/// transformers' GPT2Model.
class Gpt2Transformer final : public Module {
 public:
  explicit Gpt2Transformer(const Gpt2Shape& shape)
      : wte_(make<WeightTable>("wte", at::empty({shape.vocabulary, shape.width}))),
        wpe_(make<WeightTable>("wpe", at::empty({shape.positions, shape.width}))),
        drop_(make<Dropout>("drop", shape.embd_pdrop)) {
    auto* blocks = make<Sequence>("h");
    for (std::int64_t layer = 0; layer < shape.layers; ++layer)
      blocks_.push_back(blocks->add<Gpt2Block>(shape.block_of(layer)));
    ln_f_ = make<LayerNorm>("ln_f", shape.width, shape.epsilon);
  }

  at::Tensor read(const at::Tensor& tokens, const at::Tensor& positions, const Documents& documents,
                  const Pass& pass) {
    auto x = drop_->forward(embed(tokens, positions, pass), pass);
    for (auto* block : blocks_)
      x = run_block(*block, x, pass,
                    [block, documents](const at::Tensor& input, const Pass& again) {
                      return block->read(input, documents, again);
                    });
    return ln_f_->forward(x, pass);
  }

  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override {
    return read(tokens, at::arange(tokens.size(1), tokens.options()), nullptr, pass);
  }

  /// [n, width] of all further tokens.
  at::Tensor extend(const Continuation& further, const at::Tensor& positions,
                    const std::vector<SequenceRows>& sequences, KeyValueMemory& memory) {
    Pass pass;
    pass.blocks = further.blocks;
    auto x = embed(further.tokens, positions, pass);
    std::int64_t layer = 0;
    for (auto* block : blocks_) {
      x = observed_block(*block, x, pass, [&](const at::Tensor& input, const Pass&) {
        return block->extend(input, sequences, layer, memory);
      });
      ++layer;
    }
    return ln_f_->forward(x, pass);
  }

  const WeightTable& wte() const { return *wte_; }
  const WeightTable& wpe() const { return *wpe_; }
  const std::vector<Gpt2Block*>& blocks() const { return blocks_; }
  std::vector<Module*> embeddings() const { return {wte_, wpe_}; }
  LayerNorm* last_norm() const { return ln_f_; }

 private:
  at::Tensor embed(const at::Tensor& tokens, const at::Tensor& positions, const Pass& pass) {
    return wte_->forward(tokens, pass).add(wpe_->forward(positions, pass));
  }
  WeightTable *wte_, *wpe_;
  Dropout* drop_;
  std::vector<Gpt2Block*> blocks_;
  LayerNorm* ln_f_;
};

/// Refuses what has no vector: on an accelerator the embedding itself reports it.
void require_below(const at::Tensor& numbers, std::int64_t limit, const std::string& what) {
  if (!numbers.is_cpu() || numbers.numel() == 0) return;
  const auto [least, most] = at::aminmax(numbers);
  const auto low = least.item<std::int64_t>(), high = most.item<std::int64_t>();
  if (low < 0 || high >= limit)
    throw Error(Exit::data, "the data have {} {}, and the model has those from 0 to {}", what,
                low < 0 ? low : high, limit - 1);
}

class Gpt2 final : public Model {
 public:
  Gpt2(const Gpt2Shape& shape, const ModelContext& context) : shape_(shape) {
    if (context.data.tokens && context.data.tokens->documents) many_lengths_.emplace();
    transformer_ = make<Gpt2Transformer>("transformer", shape);
    lm_head_ =
        make<WeightTable>("lm_head", shape.tied ? transformer_->wte().weight()
                                                : at::empty({shape.vocabulary, shape.width}));
    draw_weights(context.generator);
  }

  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) override {
    const auto& tokens = inputs.at(0);
    require_length(tokens.size(1));
    require_below(tokens, shape_.vocabulary, "token");
    if (inputs.size() < 2) return transformer_->forward(tokens, pass);
    require_below(inputs[1], shape_.positions, "position");
    return transformer_->read(tokens, inputs[1], documents_of(inputs[1]), pass);
  }

  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override {
    return run({tokens}, pass);
  }

  Projection projection() const override { return {lm_head_->weight(), {}}; }
  std::optional<std::int64_t> positions() const override { return shape_.positions; }

  std::unique_ptr<Memory> make_memory() override {
    return std::make_unique<KeyValueMemory>(KeyValueShape{.layers = shape_.layers,
                                                          .heads = shape_.heads,
                                                          .features = shape_.width / shape_.heads,
                                                          .tokens = shape_.positions},
                                            transformer_->wte().weight().detach().options());
  }

  at::Tensor extend(const Continuation& continuation, Memory& memory) override {
    const at::NoGradGuard no_grad;
    auto& read = dynamic_cast<KeyValueMemory&>(memory);
    require_below(continuation.tokens, shape_.vocabulary, "token");
    const auto sequences = rows_of(continuation);
    std::vector<std::int64_t> positions, last;
    for (const auto& [sequence, first, count] : sequences) {
      const auto length = read.length(sequence);
      require_length(length + count);
      for (std::int64_t i = 0; i < count; ++i) positions.push_back(length + i);
      last.push_back(first + count - 1);
    }
    const auto on_device = [&](const std::vector<std::int64_t>& numbers) {
      return at::tensor(numbers, at::kLong).to(continuation.tokens.device());
    };
    const auto hidden = transformer_->extend(continuation, on_device(positions), sequences, read);
    for (const auto& rows : sequences) read.grow(rows.sequence, rows.count);
    return hidden.index_select(0, on_device(last));
  }

  /// Published files begin below `transformer`, and have masks that older versions kept.
  std::vector<NameTable> name_tables() const override {
    return {{.library = Library::transformers,
             .places = {{"transformer.", ""}},
             .computed = {".attn.bias", ".attn.masked_bias"}}};
  }

  std::vector<std::pair<std::string, std::string>> published_config() const override {
    return shape_.published_config();
  }

  /// The embeddings, each block, and what comes behind them.
  std::vector<std::vector<Module*>> layer_groups() override {
    std::vector<std::vector<Module*>> groups{transformer_->embeddings()};
    for (auto* block : transformer_->blocks()) groups.push_back({block});
    groups.push_back({transformer_->last_norm()});
    if (!shape_.tied) groups.back().push_back(lm_head_);
    return groups;
  }

 private:
  void require_length(std::int64_t tokens) const {
    if (tokens <= shape_.positions) return;
    throw Error(Exit::recipe, Option{"model.n_positions"},
                "the model reads {} tokens at most, and a row has {}; write shorter blocks or a "
                "larger number",
                shape_.positions, tokens);
  }

  // In the order of transformers, whose constructors draw before _init_weights does.
  void draw_weights(const at::Generator& generator) {
    const auto deviation = shape_.initializer_range;
    const auto residual = deviation / std::sqrt(static_cast<double>(2 * shape_.layers));
    const auto tables = {transformer_->wte().weight(), transformer_->wpe().weight()};
    for (const auto& table : tables) initialize::normal(table, 1, generator);
    for (const auto* block : transformer_->blocks())
      for (const auto& half : block->weights())
        for (const auto& weight : half) initialize::normal(weight, conv1d_deviation, generator);
    for (const auto& table : tables) initialize::normal(table, deviation, generator);
    for (const auto* block : transformer_->blocks())
      for (const auto& half : block->weights()) {
        for (const auto& weight : half) initialize::normal(weight, deviation, generator);
        initialize::normal(half.back(), residual, generator);
      }
    if (shape_.tied) return;
    initialize::layer_default(lm_head_->weight(), {}, generator);
    initialize::normal(lm_head_->weight(), deviation, generator);
  }

  std::optional<ManyLengths> many_lengths_;  // of documents, each of which attends to itself
  Gpt2Shape shape_;
  Gpt2Transformer* transformer_;
  WeightTable* lm_head_;
};

}  // namespace

Entry<Model> gpt2_model() {
  return entry<Model, Gpt2Options>(
      "gpt2", "GPT-2, which predicts the next token of a text from those before it.",
      [](const Gpt2Options& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<Gpt2>(Gpt2Shape(options, context), context);
      },
      {"dropout", "takes_texts", "continues_texts", "reads_documents", "blocks",
       "embeds transformer.wte.weight", "outputs lm_head", "huggingface gpt2"});
}

}  // namespace ddptrain
