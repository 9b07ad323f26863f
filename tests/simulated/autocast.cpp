// Mixed precision of the simulated device: which operators torch.autocast casts is what it is on
// CUDA, by LibTorch's own lists.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the lists are macros that want macros
#define DDPTRAIN_HPU(...) KERNEL(c10::DeviceType::HPU, __VA_ARGS__)
#define DDPTRAIN_LOWER(...) DDPTRAIN_HPU(__VA_ARGS__, lower_precision_fp)
#define DDPTRAIN_SINGLE(...) DDPTRAIN_HPU(__VA_ARGS__, fp32)
#define DDPTRAIN_SINGLE_RESULT(...) DDPTRAIN_HPU(__VA_ARGS__, fp32_set_opt_dtype)
#define DDPTRAIN_PROMOTE(...) DDPTRAIN_HPU(__VA_ARGS__, promote)
// NOLINTEND(cppcoreguidelines-macro-usage)

TORCH_LIBRARY_IMPL(_, AutocastHPU, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastHPU, m) {
  AT_FORALL_LOWER_PRECISION_FP(DDPTRAIN_LOWER)
  AT_FORALL_FP32(DDPTRAIN_SINGLE)
  AT_FORALL_FP32_SET_OPT_DTYPE(DDPTRAIN_SINGLE_RESULT)
  AT_FORALL_PROMOTE(DDPTRAIN_PROMOTE)
}

}  // namespace
