#include "models/operators/biased_product.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/addmm.h>
#include <torch/library.h>

#include "autograd/function.h"

namespace ddptrain {
namespace {

at::Tensor sums_by_libtorch(const at::Tensor& rows) { return rows.sum(0); }

class BiasedProductFunction final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    context.save({inputs[0], inputs[1]});
    const at::AutoDispatchBelowAutograd below;
    return at::addmm(inputs[2], inputs[0], inputs[1]);
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    static const auto sums = c10::Dispatcher::singleton()
                                 .findSchemaOrThrow("ddptrain::column_sums", "")
                                 .typed<decltype(sums_by_libtorch)>();
    const auto saved = context.saved();
    std::vector<at::Tensor> all(3);
    if (context.wants_gradient(0)) all[0] = gradient.mm(saved[1].t());
    if (context.wants_gradient(1)) all[1] = saved[0].t().mm(gradient);
    if (context.wants_gradient(2)) all[2] = sums.call(gradient);
    return all;
  }
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  for (const char* name : {"column_sums", "column_sums_in_parts"})
    m.def((std::string(name) + "(Tensor rows) -> Tensor").c_str());
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) { m.impl("column_sums", &sums_by_libtorch); }
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("column_sums_in_parts", &sums_by_libtorch);
}

}  // namespace

at::Tensor biased_product(const at::Tensor& input, const at::Tensor& weight,
                          const at::Tensor& bias) {
  if (input.is_cpu() || input.numel() == 0) return at::addmm(bias, input, weight);
  const auto device = input.device().type();
  const bool casts =
      at::autocast::is_autocast_enabled(device) && input.scalar_type() != at::kDouble;
  const auto type = casts ? at::autocast::get_autocast_dtype(device) : input.scalar_type();
  const auto cast = [&](const at::Tensor& tensor) {
    return casts ? at::autocast::cached_cast(type, tensor, device) : tensor;
  };
  return apply_function(c10::make_intrusive<BiasedProductFunction>(),
                        {cast(input), cast(weight), cast(bias)});
}

}  // namespace ddptrain
