// fastai.layers.LinBnDrop: what its tabular models and vision heads are made of.
#pragma once

#include "config/fields.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"

namespace ddptrain {

struct LinBnDrop {
  std::int64_t in = 1;
  std::int64_t out = 1;
  bool norm = true;
  double p = 0;  // dropout; 0: no such layer
  std::optional<Activation> activation{};
  bool lin_first = false;  // linear layer and activation before batch norm and dropout
};

/// Appends its layers: a batch norm whose bias starts at 1e-3, dropout, a linear layer (without
/// bias where there is batch norm), the activation.
void add_lin_bn_drop(Sequence& chain, const LinBnDrop& shape, const at::Generator& generator);

/// fastai.layers.SigmoidRange: any number to one between `least` and `most`.
class SigmoidRange final : public Module {
 public:
  SigmoidRange(double least, double most) : least_(least), most_(most) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  double least_;
  double most_;
};

/// The option y_range: empty, or [least, most].
void y_range_field(Fields& f, std::vector<double>& y_range);

/// Appends one for `y_range`; none where it is empty.
void add_range(Sequence& chain, const std::vector<double>& y_range);

}  // namespace ddptrain
