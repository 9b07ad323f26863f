// The text of the kernels of sums over rows, compiled here as C++ of the host, against LibTorch's
// sum in double precision.
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/kernel_types.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/column_sums.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

template <class T>
at::Tensor emulated_sums(const at::Tensor& rows, unsigned blocks) {
  using Wide = typename kernels::WideOf<T>::type;
  const auto wide = rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto partial = at::empty({blocks, rows.size(1)}, rows.options().dtype(wide)),
             sums = at::empty({rows.size(1)}, rows.options());
  const ColumnArguments a{rows.size(0), static_cast<int>(rows.size(1))};
  const auto tiles = [&](int side) { return static_cast<unsigned>(rows.size(1) / side + 1); };
  emulated::launch_together(kernels::column_sums<T>, {blocks, tiles(kColumnBlock), 1},
                            kColumnThreads, static_cast<const T*>(rows.const_data_ptr()),
                            static_cast<Wide*>(partial.mutable_data_ptr()), a);
  emulated::launch_together(kernels::column_totals<T>, {tiles(kColumnJoined), 1, 1}, kColumnThreads,
                            static_cast<const Wide*>(partial.const_data_ptr()),
                            static_cast<int>(blocks), static_cast<T*>(sums.mutable_data_ptr()), a);
  return sums;
}

at::Tensor emulated_sums_of(const at::Tensor& rows, unsigned blocks) {
  switch (rows.scalar_type()) {
    case at::kFloat:
      return emulated_sums<float>(rows, blocks);
    case at::kDouble:
      return emulated_sums<double>(rows, blocks);
    case at::kBFloat16:
      return emulated_sums<kernels::BFloat16>(rows, blocks);
    default:
      return emulated_sums<kernels::Half>(rows, blocks);
  }
}

// Fewer rows than a block, many more, columns that do not fill a block.
TEST(ColumnSumKernels, GiveLibTorchsSumsInEveryTypeAndSize) {
  for (const auto type : test::kTypes)
    for (const auto& [rows, columns] :
         std::vector<std::array<std::int64_t, 2>>{{3, 4}, {150, 132}, {401, 64}}) {
      const auto given = at::randn({rows, columns}, at::kDouble).to(type);
      ASSERT_TRUE(are_rows_of_fours(given));
      const auto sums = emulated_sums_of(given, 3).to(at::kDouble),
                 expected = given.to(at::kDouble).sum(0);
      const double share = type == at::kBFloat16 ? 1.0 / (1 << 8) : type == at::kHalf ? 1e-3 : 1e-5;
      EXPECT_LE(sums.sub(expected).abs().max().item<double>(),
                share * (1 + expected.abs().max().item<double>()))
          << type << given.sizes();
    }
}

TEST(ColumnSumKernels, LeaveOtherRowsToOthers) {
  EXPECT_TRUE(are_rows_of_fours(at::randn({3, 8})));
  EXPECT_FALSE(are_rows_of_fours(at::randn({3, 9})));
  EXPECT_FALSE(are_rows_of_fours(at::randn({8, 3}).t()));
  EXPECT_FALSE(are_rows_of_fours(at::randn({0, 8})));
}

}  // namespace
}  // namespace ddptrain
