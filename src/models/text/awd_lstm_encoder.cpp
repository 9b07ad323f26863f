#include "models/text/awd_lstm_encoder.h"

#include <ATen/ops/cat.h>

#include "models/blocks.h"
#include "models/layers/initialize.h"

namespace ddptrain {
namespace {

/// A name below which modules or a tensor of another module stand.
class Names final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  using Module::make;
  using Module::parameter;
};

std::int64_t width_of(const AwdLstmShape& shape, std::int64_t layer) {
  return layer + 1 == shape.n_layers ? shape.emb_sz : shape.n_hid;
}

WeightDropLstmShape layer_shape(const AwdLstmShape& shape, std::int64_t layer) {
  return {.in = layer == 0 ? shape.emb_sz : shape.n_hid,
          .out = width_of(shape, layer) / (shape.bidir ? 2 : 1),
          .bidir = shape.bidir,
          .weight_p = shape.weight_p,
          .runs_once = shape.runs_once};
}

LstmState rows_of(const LstmState& state, const at::Tensor& rows) {
  return {state.hidden.index_select(1, rows), state.cell.index_select(1, rows)};
}

void put_rows(LstmState& state, const at::Tensor& rows, const LstmState& moved) {
  state = {state.hidden.index_copy(1, rows, moved.hidden),
           state.cell.index_copy(1, rows, moved.cell)};
}

}  // namespace

// fastai's EmbeddingDropout holds the embedding as `emb`, so its weight has two names.
AwdLstmEncoder::AwdLstmEncoder(const AwdLstmShape& shape, const at::Generator& generator)
    : shape_(shape),
      encoder_(make<Embedding>("encoder", shape.text.vocabulary, shape.emb_sz, shape.text.padding,
                               generator)) {
  auto* encoder_dp = make<Names>("encoder_dp");
  encoder_dp->make<Names>("emb")->parameter("weight", encoder_->weight());
  encoder_dp_ = encoder_dp;
  auto* rnns = make<Names>("rnns");
  for (std::int64_t layer = 0; layer < shape.n_layers; ++layer)
    rnns_.push_back(
        rnns->make<WeightDropLstm>(std::to_string(layer), layer_shape(shape, layer), generator));
  initialize::uniform(encoder_->weight(), 0.1, generator);
  input_dp_ = make<RnnDropout>("input_dp", shape.input_p);
  auto* hidden_dps = make<Names>("hidden_dps");
  for (std::int64_t layer = 0; layer < shape.n_layers; ++layer)
    hidden_dps_.push_back(hidden_dps->make<RnnDropout>(std::to_string(layer), shape.hidden_p));
}

at::Tensor AwdLstmEncoder::embed(const at::Tensor& tokens, const Pass& pass) {
  return encoder_->forward(tokens, pass);
}

at::Tensor AwdLstmEncoder::embedding_weight() const { return encoder_->weight(); }

std::vector<LstmState> AwdLstmEncoder::zero_states(std::int64_t rows) const {
  std::vector<LstmState> states;
  for (const auto* rnn : rnns_) states.push_back(rnn->zero_state(rows));
  return states;
}

// fastai multiplies the whole embedding by the mask before it looks tokens up; the other way round
// is the same and touches only the tokens that occur.
at::Tensor AwdLstmEncoder::drop_tokens(const at::Tensor& tokens, const at::Tensor& embedded,
                                       const Segment& segment, const Pass& pass) {
  if (!pass.training || shape_.embed_p == 0 || tokens.numel() == 0) return embedded;
  const auto like = encoder_->weight().detach().select(1, 0);
  const auto mask = shared_mask(like, {encoder_dp_->path(), segment.number, shape_.embed_p}, pass);
  return embedded.mul(mask.index_select(0, tokens.flatten()).view(tokens.sizes()).unsqueeze(2));
}

at::Tensor AwdLstmEncoder::run(const at::Tensor& tokens, const at::Tensor& embedded,
                               std::vector<LstmState>& states, const Segment& segment,
                               const Pass& pass) {
  auto output = input_dp_->drop(drop_tokens(tokens, embedded, segment, pass), segment, pass);
  for (std::size_t layer = 0; layer < rnns_.size(); ++layer) {
    auto state = segment.rows.defined() ? rows_of(states[layer], segment.rows) : states[layer];
    output = rnns_[layer]->run(output, state, segment, pass);
    if (segment.rows.defined())
      put_rows(states[layer], segment.rows, state);
    else
      states[layer] = state;
    if (layer + 1 < rnns_.size()) output = hidden_dps_[layer]->drop(output, segment, pass);
  }
  return output;
}

at::Tensor AwdLstmEncoder::extend(const at::Tensor& tokens, const std::vector<std::int64_t>& counts,
                                  const std::vector<std::vector<LstmState>*>& states,
                                  Blocks* blocks) {
  Pass pass;
  pass.blocks = blocks;
  auto output = embed(tokens.unsqueeze(0), {});
  for (std::size_t layer = 0; layer < rnns_.size(); ++layer)
    output = observed_block(*rnns_[layer], output, pass, [&](const at::Tensor& all, const Pass&) {
      std::vector<at::Tensor> outputs;
      std::int64_t first = 0;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        outputs.push_back(rnns_[layer]->run(all.narrow(1, first, counts[i]), (*states[i])[layer],
                                            {0, 1, {}}, {}));
        first += counts[i];
      }
      return at::cat(outputs, 1);
    });
  return output;
}

at::Tensor AwdLstmEncoder::forward(const at::Tensor& tokens, const Pass& pass) {
  auto states = zero_states(tokens.size(0));
  return run(tokens, embed(tokens, pass), states, {0, tokens.size(0), {}}, pass);
}

}  // namespace ddptrain
