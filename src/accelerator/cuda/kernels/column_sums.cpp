// ddptrain::column_sums on CUDA.
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/in_parts.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

at::Tensor column_sums_on_cuda(const at::Tensor& given) {
  const c10::DeviceGuard guard(given.device());
  const auto rows = given.contiguous();
  if (!are_rows_of_fours(rows)) {
    static const auto parts = in_parts("ddptrain::column_sums_in_parts", &column_sums_on_cuda);
    return parts.call(given);
  }
  constexpr std::int64_t kOfAProcessor = 8, kRowsOfABlock = 64;
  ColumnArguments arguments{rows.size(0), static_cast<int>(rows.size(1))};
  const auto columns = rows.size(1), y = (columns + kColumnBlock - 1) / kColumnBlock;
  const auto wanted = std::max<std::int64_t>(1, processors() * kOfAProcessor / y);
  const auto x = std::min<std::int64_t>(wanted, (rows.size(0) + kRowsOfABlock - 1) / kRowsOfABlock);
  const auto wide = rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto partial = at::empty({x, columns}, rows.options().dtype(wide)),
             sums = at::empty({columns}, rows.options());
  const auto type = kernel_type(rows.scalar_type());
  const void* from = rows.const_data_ptr();
  void* parts = partial.mutable_data_ptr();
  void* all[] = {&from, &parts, &arguments};
  launch_kernel({column_sums_text(), type, "column_sums_" + type}, BlockCounts{x, y}, all);
  int count = static_cast<int>(x);
  void* to = sums.mutable_data_ptr();
  void* joined[] = {&parts, &count, &to, &arguments};
  launch_kernel({column_sums_text(), type, "column_totals_" + type},
                BlockCounts{(columns + kColumnJoined - 1) / kColumnJoined}, joined);
  return sums;
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) { m.impl("column_sums", &column_sums_on_cuda); }

}  // namespace
}  // namespace ddptrain
