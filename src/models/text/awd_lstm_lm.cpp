// The language model of ULMFiT (Merity et al. 2018, Howard and Ruder 2018): an AWD-LSTM whose
// embedding is its output layer too. fastai.text.learner.language_model_learner with arch=AWD_LSTM.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "base/error.h"
#include "models/carried.h"
#include "models/layers/initialize.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/text/awd_lstm_encoder.h"

namespace ddptrain {
namespace {

struct AwdLstmLmOptions {
  std::int64_t emb_sz = 400;
  std::int64_t n_hid = 1152;
  std::int64_t n_layers = 3;
  double output_p = 0.1, hidden_p = 0.15, input_p = 0.25, embed_p = 0.02, weight_p = 0.2;
  double drop_mult = 1;
  bool tie_weights = true;
  bool out_bias = true;
  double alpha = 2;
  double beta = 1;
  void fields(Fields& f) {
    f("emb_sz", emb_sz, {.doc = "Width of the embedding and of the last LSTM.", .min = 1});
    f("n_hid", n_hid, {.doc = "Width of the other LSTM layers.", .min = 1});
    f("n_layers", n_layers, {.doc = "LSTM layers.", .min = 1});
    dropouts(f);
    f("tie_weights", tie_weights, {.doc = "The output layer has the weights of the embedding."});
    f("out_bias", out_bias, {.doc = "Bias of the output layer."});
    f("alpha", alpha,
      {.doc = "Weight of the mean square of the LSTM's outputs, which training keeps small.",
       .min = 0});
    f("beta", beta,
      {.doc = "Weight of the mean square of their changes from token to token.", .min = 0});
  }

 private:
  void dropouts(Fields& f) {
    const auto share = [&f](const char* key, double& p, const char* doc) {
      f(key, p, {.doc = doc, .min = 0, .max = 1});
      f.require(product_at_most("drop_mult", key, 1));
    };
    share("output_p", output_p, "Dropout of the LSTM's outputs; a mask per row and batch.");
    share("hidden_p", hidden_p, "Dropout between the LSTM layers; a mask per row and batch.");
    share("input_p", input_p, "Dropout of the embedded tokens; a mask per row and batch.");
    share("embed_p", embed_p, "Dropout of whole tokens of the vocabulary.");
    share("weight_p", weight_p, "Dropout of the hidden-to-hidden weights.");
    f("drop_mult", drop_mult, {.doc = "Factor of the five dropouts above.", .min = 0});
  }
};

AwdLstmShape shape_of(const AwdLstmLmOptions& options, const TextFacts& text) {
  return {.text = text,
          .emb_sz = options.emb_sz,
          .n_hid = options.n_hid,
          .n_layers = options.n_layers,
          .hidden_p = options.drop_mult * options.hidden_p,
          .input_p = options.drop_mult * options.input_p,
          .embed_p = options.drop_mult * options.embed_p,
          .weight_p = options.drop_mult * options.weight_p,
          .runs_once = true};
}

/// fastai.text.models.core.LinearDecoder without its dropout.
class Decoder final : public Module {
 public:
  /// `weight` [vocabulary, emb_sz] may be another module's.
  Decoder(const at::Tensor& weight, bool bias) : weight_(parameter("weight", weight)) {
    if (bias) bias_ = parameter("bias", at::zeros({weight.size(0)}));
  }
  at::Tensor forward(const at::Tensor& hidden, const Pass&) override {
    return project(hidden, projection());
  }
  Projection projection() const { return {weight_, bias_}; }

 private:
  at::Tensor weight_, bias_;
};

class DecoderPart final : public Module {
 public:
  DecoderPart(const at::Tensor& weight, bool bias)
      : decoder_(make<Decoder>("decoder", weight, bias)) {}
  at::Tensor forward(const at::Tensor& hidden, const Pass& pass) override {
    return decoder_->forward(hidden, pass);
  }
  Projection projection() const { return decoder_->projection(); }

 private:
  Decoder* decoder_;
};

/// Hidden states of every layer, of each sequence by itself.
class LstmMemory final : public Memory {
 public:
  explicit LstmMemory(const AwdLstmEncoder& encoder) : encoder_(encoder) {}

  struct Sequence {
    std::vector<LstmState> states;
    std::int64_t length = 0;
  };
  Sequence& at(std::int64_t sequence) { return all_.at(static_cast<std::size_t>(sequence)); }

  void begin(std::int64_t sequences, std::int64_t /*tokens*/) override {
    all_.assign(static_cast<std::size_t>(sequences), {encoder_.zero_states(1), 0});
  }
  std::int64_t length(std::int64_t sequence) const override {
    return all_.at(static_cast<std::size_t>(sequence)).length;
  }
  void cut(std::int64_t sequence, std::int64_t length) override {
    auto& known = at(sequence);
    if (length == known.length) return;
    if (length != 0)
      throw Error(Exit::recipe,
                  "an LSTM cannot go back to token {} of {}: its state has only the whole of what "
                  "it has read",
                  length, known.length);
    known = {encoder_.zero_states(1), 0};
  }
  void copy(std::int64_t from, std::int64_t to) override { at(to) = at(from); }
  std::vector<NamedTensor> save(std::int64_t sequence) const override {
    const auto& known = all_.at(static_cast<std::size_t>(sequence));
    std::vector<NamedTensor> saved{{"length", at::full({1}, known.length, at::kLong)}};
    for (std::size_t layer = 0; layer < known.states.size(); ++layer) {
      saved.push_back({fmt::format("{}.hidden", layer), known.states[layer].hidden});
      saved.push_back({fmt::format("{}.cell", layer), known.states[layer].cell});
    }
    return saved;
  }
  void load(std::int64_t sequence, const std::vector<NamedTensor>& saved) override {
    auto& known = at(sequence);
    DDP_CHECK(saved.size() == 1 + 2 * known.states.size(), "the memory of a model of its layers");
    known.length = saved[0].tensor.item<std::int64_t>();
    for (std::size_t layer = 0; layer < known.states.size(); ++layer)
      known.states[layer] = {saved[1 + 2 * layer].tensor, saved[2 + 2 * layer].tensor};
  }

 private:
  const AwdLstmEncoder& encoder_;
  std::vector<Sequence> all_;
};

class AwdLstmLm final : public Model {
 public:
  AwdLstmLm(const AwdLstmLmOptions& options, const ModelContext& context)
      : alpha_(options.alpha),
        beta_(options.beta),
        carries_(context.data.tokens && context.data.tokens->streams) {
    const auto text = text_facts_of(context, "awd_lstm_lm");
    encoder_ = make<AwdLstmEncoder>("0", shape_of(options, text), context.generator);
    auto weight = encoder_->embedding_weight();
    if (!options.tie_weights) {
      weight = at::empty({text.vocabulary, options.emb_sz});
      initialize::uniform(weight, 0.1, context.generator);
    }
    decoder_ = make<DecoderPart>("1", weight, options.out_bias);
    output_dp_ = make<RnnDropout>("output_dp", options.drop_mult * options.output_p);
  }

  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override {
    auto states = states_of(tokens.size(0), pass);
    const Segment segment{0, tokens.size(0), {}};
    const auto raw = encoder_->run(tokens, encoder_->embed(tokens, pass), states, segment, pass);
    if (carries_ && pass.carried != nullptr) carry(states, *pass.carried);
    const auto output = output_dp_->drop(raw, segment, pass);
    if (pass.penalty != nullptr) regularize(raw, output, *pass.penalty);
    return output;
  }
  Projection projection() const override { return decoder_->projection(); }

  std::unique_ptr<Memory> make_memory() override { return std::make_unique<LstmMemory>(*encoder_); }
  at::Tensor extend(const Continuation& continuation, Memory& memory) override {
    auto& known = dynamic_cast<LstmMemory&>(memory);
    std::vector<std::vector<LstmState>*> states;
    for (const auto sequence : continuation.sequences) states.push_back(&known.at(sequence).states);
    const auto output =
        encoder_->extend(continuation.tokens, continuation.counts, states, continuation.blocks);
    std::vector<at::Tensor> last;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < continuation.sequences.size(); ++i) {
      end += continuation.counts[i];
      known.at(continuation.sequences[i]).length += continuation.counts[i];
      last.push_back(output.select(1, end - 1));
    }
    return at::cat(last);
  }

  /// fastai.text.models.awdlstm.awd_lstm_lm_split: each LSTM, then embedding and output layer.
  std::vector<std::vector<Module*>> layer_groups() override {
    std::vector<std::vector<Module*>> groups;
    for (auto* layer : encoder_->layers()) groups.push_back({layer});
    groups.push_back({&encoder_->embedding(), decoder_});
    return groups;
  }

  /// Files of encoders alone (fastai's save_encoder).
  std::map<std::string, std::string> borrowed_names() const override {
    std::map<std::string, std::string> names;
    for (const std::string part : {"encoder.", "encoder_dp.", "rnns."}) names[part] = "0." + part;
    return names;
  }

 private:
  std::vector<LstmState> states_of(std::int64_t rows, const Pass& pass) const {
    auto states = encoder_->zero_states(rows);
    if (!carries_ || pass.carried == nullptr) return states;
    for (std::size_t layer = 0; layer < states.size(); ++layer) {
      const auto path = encoder_->layers()[layer]->path();
      const auto hidden = pass.carried->get(path + ".hidden");
      if (!hidden.defined()) return states;  // streams begin
      states[layer] = {hidden.transpose(0, 1).contiguous(),
                       pass.carried->get(path + ".cell").transpose(0, 1).contiguous()};
    }
    return states;
  }

  void carry(const std::vector<LstmState>& states, Carried& carried) const {
    for (std::size_t layer = 0; layer < states.size(); ++layer) {
      const auto path = encoder_->layers()[layer]->path();
      carried.set(path + ".hidden", states[layer].hidden.transpose(0, 1).contiguous());
      carried.set(path + ".cell", states[layer].cell.transpose(0, 1).contiguous());
    }
  }

  /// fastai.callback.rnn.RNNRegularizer: of the outputs with dropout, and of their changes without.
  void regularize(const at::Tensor& raw, const at::Tensor& output, Penalty& penalty) const {
    const auto exact = [](const at::Tensor& tensor) {
      return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat);
    };
    if (alpha_ > 0) penalty.add(exact(output).square().mean(at::IntArrayRef{1, 2}).mul(alpha_));
    if (beta_ > 0 && raw.size(1) > 1)
      penalty.add(exact(raw).diff(1, 1).square().mean(at::IntArrayRef{1, 2}).mul(beta_));
  }

  double alpha_, beta_;
  bool carries_;  // rows continue those of the batch before
  AwdLstmEncoder* encoder_;
  DecoderPart* decoder_;
  RnnDropout* output_dp_;
};

}  // namespace

Entry<Model> awd_lstm_lm_model() {
  return entry_of<Model, AwdLstmLm, AwdLstmLmOptions>(
      "awd_lstm_lm",
      "AWD-LSTM that gives the next token of a text: fastai's language_model_learner.",
      {"dropout", "takes_texts", "continues_texts",
       "embeds 0.encoder.weight+0.encoder_dp.emb.weight+1.decoder.weight+1.decoder.bias"});
}

}  // namespace ddptrain
