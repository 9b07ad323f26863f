#include "models/text/weight_drop_lstm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "models/layers/initialise.h"

namespace ddptrain {

/// What torch.nn.LSTM would hold besides the dropped weights.
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
    initialise::uniform(weight, bound, generator);
}

LstmState WeightDropLstm::zero_state(std::int64_t rows) const {
  const auto zero = at::zeros({shape_.bidir ? 2 : 1, rows, shape_.out}, weight_hh_raw_.options());
  return {zero, zero};
}

at::Tensor WeightDropLstm::run(const at::Tensor& input, LstmState& state, std::int64_t segment,
                               const Pass& pass) {
  auto weight = weight_hh_raw_;
  if (pass.training && shape_.weight_p > 0)
    weight = drop_shared(weight, {path(), segment, shape_.weight_p}, pass);
  auto [output, hidden, cell] =
      at::lstm(input, {state.hidden, state.cell}, module_->with(weight), /*has_biases=*/true,
               /*num_layers=*/1, /*dropout=*/0, pass.training, shape_.bidir, /*batch_first=*/true);
  const auto type = weight_hh_raw_.scalar_type();  // mixed precision may have another
  state = {hidden.detach().to(type), cell.detach().to(type)};
  return output;
}

at::Tensor WeightDropLstm::forward(const at::Tensor& input, const Pass& pass) {
  auto state = zero_state(input.size(0));
  return run(input, state, 0, pass);
}

}  // namespace ddptrain
