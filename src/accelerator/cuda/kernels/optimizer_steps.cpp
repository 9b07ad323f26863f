// ddptrain::adam_step_ and ddptrain::sgd_step_ on CUDA: kernels of our own over lists of tensors.
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <string>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;

const float* number_there(const at::Tensor& tensor) { return tensor.const_data_ptr<float>(); }

const float* number_there(const Maybe& tensor) {
  return tensor && tensor->defined() ? tensor->const_data_ptr<float>() : nullptr;
}

template <class Arguments>
void launch_step(const std::string& kernel, const std::vector<at::TensorList>& lists,
                 Arguments arguments) {
  if (lists.front().empty()) return;
  const c10::DeviceGuard guard(lists.front().front().device());
  const auto type = kernel_type(lists.front().front().scalar_type());
  for (std::size_t first = 0; first < lists.front().size();) {
    auto tensors = optimizer_tensors(lists, first);
    first += static_cast<std::size_t>(tensors.count);
    const auto blocks = std::int64_t{tensors.first_chunks[tensors.count]};
    if (blocks == 0) continue;
    void* all[] = {&tensors, &arguments};
    launch_kernel({optimizer_steps_text(), type, kernel + "_" + type}, BlockCounts{blocks}, all);
  }
}

void adam_step_cuda(at::TensorList parameters, at::TensorList gradients, at::TensorList first,
                    at::TensorList second, at::TensorList largest, const at::Tensor& step,
                    const at::Tensor& rate, const at::Tensor& momentum, double beta2,
                    double weight_decay, double eps, bool amsgrad, bool maximize, bool decoupled,
                    const Maybe& refused) {
  std::vector<at::TensorList> lists{parameters, gradients, first, second};
  if (amsgrad) lists.push_back(largest);
  launch_step("adam_step", lists,
              AdamStepArguments{number_there(rate), number_there(momentum), number_there(step),
                                number_there(refused), beta2, weight_decay, eps, amsgrad, maximize,
                                decoupled});
}

void sgd_step_cuda(at::TensorList parameters, at::TensorList gradients, at::TensorList running,
                   const at::Tensor& rate, const at::Tensor& momentum, double weight_decay,
                   double dampening, bool nesterov, bool maximize, bool is_first,
                   const Maybe& refused) {
  launch_step("sgd_step", {parameters, gradients, running},
              SgdStepArguments{number_there(rate), number_there(momentum), number_there(refused),
                               weight_decay, dampening, nesterov, maximize, is_first});
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("adam_step_", &adam_step_cuda);
  m.impl("sgd_step_", &sgd_step_cuda);
}

}  // namespace
}  // namespace ddptrain
