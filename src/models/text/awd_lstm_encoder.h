// AWD-LSTM (Merity, Keskar and Socher 2018): an embedding and LSTM layers, each with a dropout of
// its own. fastai.text.models.awdlstm.AWD_LSTM; names, order and first weights are fastai's.
#pragma once

#include "models/layers/chain.h"
#include "models/layers/embedding.h"
#include "models/sizes.h"
#include "models/text/weight_drop_lstm.h"

namespace ddptrain {

struct AwdLstmShape {
  TextFacts text;
  std::int64_t emb_sz = 400;
  std::int64_t n_hid = 1152;
  std::int64_t n_layers = 3;
  bool bidir = false;
  double hidden_p = 0;     // of what one layer gives the next
  double input_p = 0;      // of the embedded tokens
  double embed_p = 0;      // of whole tokens of the vocabulary
  double weight_p = 0;     // of the hidden-to-hidden weights
  bool runs_once = false;  // WeightDropLstmShape's
};

class Blocks;  // models/blocks.h

class AwdLstmEncoder final : public Module {
 public:
  AwdLstmEncoder(const AwdLstmShape& shape, const at::Generator& generator);

  /// Tokens [rows, time] to [rows, time, emb_sz].
  at::Tensor embed(const at::Tensor& tokens, const Pass& pass);
  /// Zero, for every layer and row of a batch.
  std::vector<LstmState> zero_states(std::int64_t rows) const;
  /// The rows of a segment: tokens [k, time] and what `embed` made of them to [k, time, emb_sz].
  /// Moves the states (of all rows of the batch) on.
  at::Tensor run(const at::Tensor& tokens, const at::Tensor& embedded,
                 std::vector<LstmState>& states, const Segment& segment, const Pass& pass);
  /// Tokens [n] of several sequences, one behind the other, `counts` of each, to [1, n, emb_sz],
  /// in evaluation mode. Moves the states on, which each sequence has of each layer. A layer reads
  /// all sequences, each by itself, before the next layer does. `blocks`: Continuation::blocks.
  at::Tensor extend(const at::Tensor& tokens, const std::vector<std::int64_t>& counts,
                    const std::vector<std::vector<LstmState>*>& states, Blocks* blocks);
  /// Tokens of one segment, from the state zero.
  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override;

  Module& embedding() { return *encoder_; }
  /// [vocabulary, emb_sz]
  at::Tensor embedding_weight() const;
  const std::vector<WeightDropLstm*>& layers() const { return rnns_; }

 private:
  at::Tensor drop_tokens(const at::Tensor& tokens, const at::Tensor& embedded,
                         const Segment& segment, const Pass& pass);

  AwdLstmShape shape_;
  Embedding* encoder_;
  Module* encoder_dp_;
  std::vector<WeightDropLstm*> rnns_;
  RnnDropout* input_dp_;
  std::vector<RnnDropout*> hidden_dps_;
};

}  // namespace ddptrain
