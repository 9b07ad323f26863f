// A module that Python scripted has the same gradients however the batch is cut, where it has
// neither batch norm nor dropout of its own.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "support/node.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using namespace test;

ModelFactory plain_script() {
  return [] {
    ModelContext context;
    context.data.classes = {"a", "b", "c"};
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    const nlohmann::json recipe{{"type", "torchscript"},
                                {"file", in_source("tests/golden/torchscript/plain.pt")}};
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

TEST(ScriptModels, AreTheSameUnderEveryEngine) {
  const auto model = plain_script();
  const std::vector<Batch> batches{samples(6, "first"), samples(5, "second"), samples(2, "third")};
  const auto expected = by_single(model, batches);
  ASSERT_EQ(expected.size(), 12U);
  expect_same(by_single(model, batches, in_double(), 2), expected);
  expect_same(by_dp(model, batches, in_double(), 2), expected);
  expect_same(by_dp(model, batches, in_double(), 3), expected);  // one replica has no row at last
  expect_same(by_ddp(model, batches, in_double(), 1), expected);
  expect_same(by_ddp(model, batches, in_double(), 2), expected);
  expect_same(by_ddp(model, batches, in_double(), 3), expected);
}

}  // namespace
}  // namespace ddptrain
