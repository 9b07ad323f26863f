#include "train/build/flops.h"

#include <ATen/record_function.h>

#include <functional>
#include <map>
#include <span>
#include <string_view>

namespace ddptrain {
namespace {

using Inputs = std::span<const c10::IValue>;

std::atomic<FlopCounter*> counting = nullptr;

const at::Tensor& tensor(const c10::IValue& value) { return value.toTensor(); }

/// Multiply-adds of a call, or (`each_output`) those of each value that it returns.
struct Work {
  std::int64_t count = 0;
  bool each_output = false;
};

// Each output value is a sum over a filter; transposed, each input value is spread over one.
Work small_convolution(Inputs in) {
  const auto& weight = tensor(in[1]);
  return {weight.numel() / weight.size(0), true};
}

Work convolution(Inputs in) {
  const auto filter = small_convolution(in);
  if (in[6].toBool()) return {tensor(in[0]).numel() * filter.count};
  return filter;
}

// Gradients of the input and of the weight, those that are wanted, each as much as the output.
Work convolution_backward(Inputs in) {
  const auto &output = tensor(in[0]), &input = tensor(in[1]), &weight = tensor(in[2]);
  const auto filter = weight.numel() / weight.size(0);
  const auto wanted = in[10].toBoolList();
  const auto forward = (in[7].toBool() ? input.numel() : output.numel()) * filter;
  return {forward * (wanted[0] + wanted[1])};
}

Work small_convolution_backward(Inputs in) {
  const auto& weight = tensor(in[2]);
  const auto wanted = in[3].toBoolList();
  return {tensor(in[0]).numel() * (weight.numel() / weight.size(0)) * (wanted[0] + wanted[1])};
}

Work product(const at::Tensor& left, const at::Tensor& right) {
  return {left.numel() * right.size(-1)};
}

// Queries by keys, and the weights by values.
Work attention(Inputs in) {
  const auto &query = tensor(in[0]), &key = tensor(in[1]), &value = tensor(in[2]);
  return {query.numel() / query.size(-1) * key.size(-2) * (query.size(-1) + value.size(-1))};
}

// Five products, where the pass has two: the weights are computed again.
Work attention_backward(Inputs in) {
  const auto &query = tensor(in[1]), &key = tensor(in[2]), &value = tensor(in[3]);
  return {query.numel() / query.size(-1) * key.size(-2) *
          (3 * query.size(-1) + 2 * value.size(-1))};
}

Work recurrent(Inputs in) {
  const auto& input = tensor(in[0]);
  return {input.numel() / input.size(-1) * (tensor(in[1]).numel() + tensor(in[2]).numel())};
}

Work recurrent_backward(Inputs in) { return {2 * recurrent(in).count}; }

using Measure = std::function<Work(Inputs)>;

/// By operator. Those that call others of the list are not in it.
const std::map<std::string_view, Measure>& operators() {
  static const std::map<std::string_view, Measure> all{
      {"aten::convolution", convolution},
      {"aten::mm", [](Inputs in) { return product(tensor(in[0]), tensor(in[1])); }},
      {"aten::bmm", [](Inputs in) { return product(tensor(in[0]), tensor(in[1])); }},
      {"aten::addmm", [](Inputs in) { return product(tensor(in[1]), tensor(in[2])); }},
      {"aten::baddbmm", [](Inputs in) { return product(tensor(in[1]), tensor(in[2])); }},
      {"aten::convolution_backward", convolution_backward},
      {"ddptrain::small_convolution", small_convolution},
      {"ddptrain::small_convolution_backward", small_convolution_backward},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward},
      {"aten::_scaled_dot_product_flash_attention", attention},
      {"aten::_scaled_dot_product_flash_attention_backward", attention_backward},
      {"aten::_scaled_dot_product_efficient_attention", attention},
      {"aten::_scaled_dot_product_efficient_attention_backward", attention_backward},
      {"aten::mkldnn_rnn_layer", recurrent},
      {"aten::mkldnn_rnn_layer_backward", recurrent_backward},
  };
  return all;
}

/// From the beginning of a call, when its inputs can be seen, to its end.
struct Call final : at::ObserverContext {
  explicit Call(Work done) : work(done) {}
  Work work;
};

}  // namespace

void add_flops(std::int64_t multiply_adds) {
  if (auto* counter = counting.load()) counter->count_ += 2 * multiply_adds;
}

FlopCounter::FlopCounter() {
  counting = this;
  const auto begin =
      [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    const auto found = operators().find(function.name());
    if (found == operators().end()) return nullptr;
    const auto inputs = function.inputs();
    return std::make_unique<Call>(found->second({inputs.data(), inputs.size()}));
  };
  const auto end = [](const at::RecordFunction& function, at::ObserverContext* context) {
    const auto* call = static_cast<const Call*>(context);
    if (!call) return;
    const auto outputs = call->work.each_output ? tensor(function.outputs().at(0)).numel() : 1;
    add_flops(call->work.count * outputs);
  };
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                      .needsInputs(true)
                                      .needsOutputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
}

FlopCounter::~FlopCounter() {
  at::removeCallback(handle_);
  counting = nullptr;
}

}  // namespace ddptrain
