// torch.nn.LSTM of one layer whose hidden-to-hidden weights are dropped: fastai's WeightDropout.
#pragma once

#include <ATen/core/Generator.h>

#include "models/text/rnn_dropout.h"

namespace ddptrain {

struct WeightDropLstmShape {
  std::int64_t in = 0;
  std::int64_t out = 0;  // per direction
  bool bidir = false;
  double weight_p = 0;
  bool runs_once = false;  // in each forward pass, on every rank
};

/// What a layer carries from one segment to the next: [directions, rows, out] each, no graph.
struct LstmState {
  at::Tensor hidden, cell;
};

/// Parameters `weight_hh_l0_raw`, `module.weight_ih_l0`, `module.bias_ih_l0`, `module.bias_hh_l0`
/// and, where it reads both ways, the same of the other way with `_reverse` (none of them dropped).
class WeightDropLstm final : public Module {
 public:
  WeightDropLstm(const WeightDropLstmShape& shape, const at::Generator& generator);
  /// [rows, time, in] to [rows, time, directions * out]; moves the state on. Where the segment says
  /// how long its rows are, the way back begins at a row's last token, outputs behind it mean
  /// nothing, and neither does the state of a row that is shorter than the segment.
  at::Tensor run(const at::Tensor& input, LstmState& state, const Segment& segment,
                 const Pass& pass);
  /// From the state zero.
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  LstmState zero_state(std::int64_t rows) const;
  bool is_block() const override { return shape_.runs_once; }

 private:
  class Weights;
  at::Tensor compute(const at::Tensor& input, LstmState& state, const Segment& segment,
                     const Pass& pass) const;
  at::Tensor run_both_ways(const at::Tensor& input, LstmState& state, const at::Tensor& weight,
                           const at::Tensor& lengths, const Pass& pass) const;
  WeightDropLstmShape shape_;
  at::Tensor weight_hh_raw_;
  Weights* module_;
};

}  // namespace ddptrain
