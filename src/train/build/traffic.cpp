#include "train/build/traffic.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace ddptrain {
namespace {

std::atomic<TrafficCounter*> counting_traffic = nullptr;
thread_local TrafficOfCall* innermost = nullptr;

std::int64_t bytes_of_tensor(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return 0;
  return static_cast<std::int64_t>(std::min(tensor.nbytes(), tensor.storage().nbytes()));
}

template <class Values>
std::int64_t bytes_of_values(const Values& values) {
  std::int64_t bytes = 0;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) bytes += bytes_of_tensor(value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) bytes += bytes_of_tensor(tensor);
  }
  return bytes;
}

/// Whether an operator writes its first tensor without reading it.
bool overwrites(std::string_view name) {
  return name == "aten::copy_" || name == "aten::fill_" || name == "aten::zero_";
}

/// Of operators that return a view of what they take, or uninitialized memory.
bool moves_nothing(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (name.starts_with("aten::empty") || name.starts_with("aten::new_empty")) return true;
  const auto called = function.operator_name();
  if (!called) return true;
  const auto found = c10::Dispatcher::singleton().findSchema(*called);
  if (!found) return true;
  return std::ranges::any_of(found->schema().returns(), [](const c10::Argument& returned) {
    return returned.alias_info() && !returned.alias_info()->isWrite();
  });
}

}  // namespace

struct TrafficOfCall final : at::ObserverContext {
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    auto call = std::make_unique<TrafficOfCall>();
    call->outer = std::exchange(innermost, call.get());
    call->none = moves_nothing(function);
    const auto inputs = function.inputs();
    if (!call->none)
      call->own = bytes_of_values(overwrites(function.name()) ? inputs.slice(1) : inputs);
    return call;
  }

  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    auto* call = static_cast<TrafficOfCall*>(context);
    innermost = call->outer;
    if (!call->none) call->own += bytes_of_values(function.outputs());
    const auto bytes = std::max(call->own, call->within);
    if (call->outer)
      call->outer->within += bytes;
    else if (auto* counter = counting_traffic.load())
      counter->bytes_ += bytes;
  }

  TrafficOfCall* outer = nullptr;
  bool none = false;
  std::int64_t own = 0;     // taken and returned
  std::int64_t within = 0;  // by the operators that it calls
};

TrafficCounter::TrafficCounter() {
  counting_traffic = this;
  handle_ =
      at::addGlobalCallback(at::RecordFunctionCallback(TrafficOfCall::begin, TrafficOfCall::end)
                                .needsInputs(true)
                                .needsOutputs(true)
                                .scopes({at::RecordScope::FUNCTION}));
}

TrafficCounter::~TrafficCounter() {
  at::removeCallback(handle_);
  counting_traffic = nullptr;
}

}  // namespace ddptrain
