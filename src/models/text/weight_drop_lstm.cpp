#include "models/text/weight_drop_lstm.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "models/blocks.h"
#include "models/layers/initialize.h"

namespace ddptrain {
namespace {

/// Places [rows, time] that turn the first `lengths` ones of each row around, and leave the rest.
at::Tensor reversed_places(const at::Tensor& lengths, std::int64_t time) {
  const auto places = at::arange(time, lengths.options()).unsqueeze(0);
  const auto back = lengths.unsqueeze(1).sub(1).sub(places);
  return at::where(back.ge(0), back, places);
}

at::Tensor in_order(const at::Tensor& rows, const at::Tensor& places) {
  return rows.gather(1, places.unsqueeze(2).expand({-1, -1, rows.size(2)}));
}

/// Whether this processor's oneDNN has an LSTM that computes with numbers of autocast's type.
bool one_dnn_computes_in(at::ScalarType type) {
#ifdef __x86_64__
  static const bool has_avx512 = __builtin_cpu_supports("avx512bw") != 0 &&
                                 __builtin_cpu_supports("avx512vl") != 0 &&
                                 __builtin_cpu_supports("avx512dq") != 0;
  return type == at::kBFloat16 && has_avx512;
#else
  return type == at::kBFloat16;
#endif
}

/// What LibTorch's autocast takes to oneDNN without asking whether it can: "could not create a
/// primitive descriptor for the LSTM forward propagation primitive".
bool autocast_cannot(const at::Tensor& input) {
  return input.is_cpu() && at::autocast::is_autocast_enabled(at::kCPU) &&
         !one_dnn_computes_in(at::autocast::get_autocast_dtype(at::kCPU));
}

/// One layer of torch.nn.LSTM: outputs of each step, and the last state. In the weights' type where
/// autocast cannot.
std::tuple<at::Tensor, LstmState> lstm_layer(const at::Tensor& input, const LstmState& state,
                                             at::TensorList weights, bool bidir, const Pass& pass) {
  std::optional<c10::impl::ExcludeDispatchKeyGuard> no_autocast;
  const bool widened = autocast_cannot(input);
  if (widened) no_autocast.emplace(c10::autocast_dispatch_keyset);
  auto [output, hidden, cell] =
      at::lstm(widened ? input.to(weights[0].scalar_type()) : input, {state.hidden, state.cell},
               weights, /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, pass.training, bidir,
               /*batch_first=*/true);
  return {output, {hidden, cell}};
}

/// One layer that reads one way.
at::Tensor read(const at::Tensor& input, LstmState& state, at::TensorList weights,
                const Pass& pass) {
  at::Tensor output;
  std::tie(output, state) = lstm_layer(input, state, weights, /*bidir=*/false, pass);
  return output;
}

}  // namespace

/// The parameters of torch.nn.LSTM other than the dropped weights.
class WeightDropLstm::Weights final : public Module {
 public:
  explicit Weights(const WeightDropLstmShape& shape) {
    for (const std::string way : {"", "_reverse"}) {
      if (!way.empty() && !shape.bidir) break;
      rest_.push_back(parameter("weight_ih_l0" + way, at::empty({4 * shape.out, shape.in})));
      if (!way.empty())
        rest_.push_back(parameter("weight_hh_l0" + way, at::empty({4 * shape.out, shape.out})));
      rest_.push_back(parameter("bias_ih_l0" + way, at::empty({4 * shape.out})));
      rest_.push_back(parameter("bias_hh_l0" + way, at::empty({4 * shape.out})));
    }
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }

  /// In the order of torch.nn.LSTM.
  std::vector<at::Tensor> with(const at::Tensor& weight_hh) const {
    auto all = rest_;
    all.insert(all.begin() + 1, weight_hh);
    return all;
  }

 private:
  std::vector<at::Tensor> rest_;
};

WeightDropLstm::WeightDropLstm(const WeightDropLstmShape& shape, const at::Generator& generator)
    : shape_(shape),
      weight_hh_raw_(parameter("weight_hh_l0_raw", at::empty({4 * shape.out, shape.out}))),
      module_(make<Weights>("module", shape)) {
  const double bound = 1 / std::sqrt(static_cast<double>(shape.out));
  for (const auto& weight : module_->with(weight_hh_raw_))
    initialize::uniform(weight, bound, generator);
}

LstmState WeightDropLstm::zero_state(std::int64_t rows) const {
  const auto zero = at::zeros({shape_.bidir ? 2 : 1, rows, shape_.out}, weight_hh_raw_.options());
  return {zero, zero};
}

// at::lstm would read the padding first on its way back.
at::Tensor WeightDropLstm::run_both_ways(const at::Tensor& input, LstmState& state,
                                         const at::Tensor& weight, const at::Tensor& lengths,
                                         const Pass& pass) const {
  const auto weights = module_->with(weight);
  const auto all = at::TensorList(weights);
  const auto half = all.size() / 2;
  const auto places = reversed_places(lengths, input.size(1));
  LstmState there{state.hidden.slice(0, 0, 1), state.cell.slice(0, 0, 1)};
  LstmState back{state.hidden.slice(0, 1), state.cell.slice(0, 1)};
  const auto forth = read(input, there, all.slice(0, half), pass);
  const auto reversed = read(in_order(input, places), back, all.slice(half), pass);
  state = {at::cat({there.hidden, back.hidden}), at::cat({there.cell, back.cell})};
  return at::cat({forth, in_order(reversed, places)}, 2);
}

at::Tensor WeightDropLstm::run(const at::Tensor& input, LstmState& state, const Segment& segment,
                               const Pass& pass) {
  return observed_block(*this, input, pass, [&](const at::Tensor& given, const Pass& now) {
    return compute(given, state, segment, now);
  });
}

at::Tensor WeightDropLstm::compute(const at::Tensor& input, LstmState& state,
                                   const Segment& segment, const Pass& pass) const {
  auto weight = weight_hh_raw_;
  if (pass.training && shape_.weight_p > 0)
    weight = drop_shared(weight, {path(), segment.number, shape_.weight_p}, pass);
  at::Tensor output;
  if (shape_.bidir && segment.lengths.defined())
    output = run_both_ways(input, state, weight, segment.lengths, pass);
  else
    std::tie(output, state) = lstm_layer(input, state, module_->with(weight), shape_.bidir, pass);
  const auto type = weight_hh_raw_.scalar_type();  // mixed precision may have another
  state = {state.hidden.detach().to(type), state.cell.detach().to(type)};
  return output;
}

at::Tensor WeightDropLstm::forward(const at::Tensor& input, const Pass& pass) {
  auto state = zero_state(input.size(0));
  return run(input, state, {0, input.size(0), {}}, pass);
}

}  // namespace ddptrain
