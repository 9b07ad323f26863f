#include "models/operators/max_pool.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <string>
#include <tuple>

#include "autograd/function.h"

namespace ddptrain {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

// Both operators by LibTorch's. The second tensor says where a window's largest number was: a
// device may say it in its own way.

TwoTensors pool_in_parts(const at::Tensor& input, std::int64_t kernel, std::int64_t stride,
                         std::int64_t padding, bool ceil) {
  return at::max_pool2d_with_indices(input, kernel, stride, padding, 1, ceil);
}

at::Tensor pool_backward_in_parts(const at::Tensor& gradient, const at::Tensor& input,
                                  const at::Tensor& places, std::int64_t kernel,
                                  std::int64_t stride, std::int64_t padding, bool ceil) {
  return at::max_pool2d_with_indices_backward(gradient, input, kernel, stride, padding, 1, ceil,
                                              places);
}

class MaxPoolFunction final : public AutogradFunction {
 public:
  explicit MaxPoolFunction(const PoolWindow& window) : window_(window) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::max_pool", "")
                               .typed<decltype(pool_in_parts)>();
    const at::AutoDispatchBelowAutograd below;
    const auto [output, places] =
        op.call(inputs[0], window_.kernel, window_.stride, window_.padding, window_.ceil);
    context.save({inputs[0], places});
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::max_pool_backward", "")
                               .typed<decltype(pool_backward_in_parts)>();
    const auto saved = context.saved();
    return {op.call(gradient, saved[0], saved[1], window_.kernel, window_.stride, window_.padding,
                    window_.ceil)};
  }

 private:
  PoolWindow window_;
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  const std::string window = "int kernel, int stride, int padding, bool ceil)";
  for (const char* kind : {"", "_in_parts"}) {
    m.def((fmt::format("max_pool{}(Tensor input, {} -> (Tensor, Tensor)", kind, window)).c_str());
    m.def((std::string("max_pool_backward") + kind +
           "(Tensor gradient, Tensor input, Tensor places, " + window + " -> Tensor")
              .c_str());
  }
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("max_pool", &pool_in_parts);
  m.impl("max_pool_backward", &pool_backward_in_parts);
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("max_pool_in_parts", &pool_in_parts);
  m.impl("max_pool_backward_in_parts", &pool_backward_in_parts);
}

}  // namespace

at::Tensor max_pool(const at::Tensor& input, const PoolWindow& window) {
  const bool is_own = !input.is_cpu() && input.numel() > 0 &&
                      input.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
  if (is_own) return apply_function(c10::make_intrusive<MaxPoolFunction>(window), {input});
  return at::max_pool2d(input, window.kernel, window.stride, window.padding, 1, window.ceil);
}

}  // namespace ddptrain
