#include "models/language/linear_rows.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "models/nets.h"

namespace ddptrain {
namespace {

struct RowsCase {
  std::int64_t in, out;
  at::ScalarType type = at::kFloat;
  bool bias = true;
};

/// Tails of lanes and of threads' parts, one input, one output.
const std::vector<RowsCase> kRowsCases{{1, 1},
                                       {7, 5},
                                       {16, 16},
                                       {48, 33, at::kFloat, false},
                                       {65, 300},
                                       {384, 257},
                                       {385, 512},
                                       {97, 1027, at::kDouble},
                                       {8, 9, at::kDouble, false},
                                       {33, 18, at::kBFloat16}};

struct RowsOperands {
  at::Tensor rows, weight, bias;
};

RowsOperands operands_of(const RowsCase& c, std::int64_t n) {
  auto generator = test::seeded(3);
  const auto draw = [&](at::IntArrayRef sizes) {
    return at::randn(sizes, generator, at::TensorOptions(at::kDouble)).to(c.type);
  };
  auto weight = draw({c.out, c.in});
  return {draw({n, c.in}), weight, c.bias ? draw({c.out}) : at::Tensor()};
}

using RowsFunction = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&);

at::Tensor transposed_rows(const at::Tensor& rows, const at::Tensor& weight,
                           const at::Tensor& bias) {
  return conv1d_rows(rows, weight.t().contiguous(), bias);
}

/// A row's bits do not depend on its place or its neighbors.
void expect_rows_alone(RowsFunction* product) {
  for (const auto& c : kRowsCases) {
    const auto all = operands_of(c, 20);
    const auto alone = product(all.rows.narrow(0, 0, 1), all.weight, all.bias);
    for (std::int64_t n = 1; n <= 17; ++n)
      for (std::int64_t first = 0; first < 3; ++first) {
        auto rows = all.rows.narrow(0, first, n).clone();
        rows.select(0, n - 1).copy_(all.rows.select(0, 0));
        const auto found = product(rows, all.weight, all.bias);
        EXPECT_TRUE(at::equal(found.narrow(0, n - 1, 1), alone))
            << c.in << " to " << c.out << ", row " << n - 1 << " of " << n;
      }
  }
}

void expect_values(RowsFunction* product) {
  for (const auto& c : kRowsCases) {
    const auto all = operands_of(c, 5);
    const auto exact = at::linear(all.rows.to(at::kDouble), all.weight.to(at::kDouble),
                                  c.bias ? all.bias.to(at::kDouble) : at::Tensor());
    const auto found = product(all.rows, all.weight, all.bias);
    EXPECT_EQ(found.scalar_type(), c.type);
    const double tolerance = c.type == at::kDouble ? 1e-14 : c.type == at::kFloat ? 1e-6 : 1e-2;
    const auto difference = test::largest_difference(found.to(at::kDouble), exact);
    EXPECT_LE(difference, tolerance * exact.abs().max().item<double>()) << c.in << " to " << c.out;
  }
}

TEST(LinearRows, AreTheSameBitsAloneAndAmongOthers) { expect_rows_alone(linear_rows); }
TEST(LinearRows, AreWhatLinearGives) { expect_values(linear_rows); }
TEST(Conv1dRows, AreTheSameBitsAloneAndAmongOthers) { expect_rows_alone(transposed_rows); }
TEST(Conv1dRows, AreWhatLinearGives) { expect_values(transposed_rows); }

TEST(LinearRows, TakeViews) {
  const auto all = operands_of({24, 40}, 4);
  const auto wide = operands_of({48, 40}, 4);
  const auto rows = wide.rows.narrow(1, 3, 24);
  EXPECT_TRUE(at::equal(linear_rows(rows, all.weight, all.bias),
                        linear_rows(rows.contiguous(), all.weight, all.bias)));
  EXPECT_EQ(linear_rows(all.rows.narrow(0, 0, 0), all.weight, all.bias).sizes(),
            (std::vector<std::int64_t>{0, 40}));
}

}  // namespace
}  // namespace ddptrain
