#include "models/layers/lin_bn_drop.h"

#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/norm.h"

namespace ddptrain {

void add_lin_bn_drop(Sequence& chain, const LinBnDrop& shape, const at::Generator& generator) {
  const auto add_norm = [&] {
    if (shape.norm)
      initialize::constant(chain.add<BatchNorm>(shape.lin_first ? shape.out : shape.in)->bias(),
                           1e-3);
    if (shape.p > 0) chain.add<Dropout>(shape.p);
  };
  if (!shape.lin_first) add_norm();
  chain.add<Linear>(shape.in, shape.out, generator,
                    shape.norm ? LinearBias::none : LinearBias::learned);
  if (shape.activation) chain.add<Activate>(*shape.activation);
  if (shape.lin_first) add_norm();
}

at::Tensor SigmoidRange::forward(const at::Tensor& input, const Pass&) {
  return input.sigmoid().mul(most_ - least_).add(least_);
}

void y_range_field(Fields& f, std::vector<double>& y_range) {
  f("y_range", y_range,
    {.doc = "[least, most]: a sigmoid keeps the output between; none leaves it free.",
     .lengths = {0, 2},
     .items = ItemOrder::increasing});
}

void add_range(Sequence& chain, const std::vector<double>& y_range) {
  if (y_range.empty()) return;
  chain.add<SigmoidRange>(y_range[0], y_range[1]);
}

}  // namespace ddptrain
