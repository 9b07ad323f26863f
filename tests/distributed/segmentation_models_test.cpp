// Models that classify pixels give the same gradients however the batch is cut: batch norms over
// all rows, dropout by the row in the global batch, auxiliary losses weighted like the loss.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

const json kBody = {{"type", "xresnet18"}, {"widen", 0.125}, {"stem", {4, 4, 8}}};

/// Images of 32 x 32, and masks of three classes.
Batch masks(std::int64_t rows, const std::string& name) {
  auto batch = samples(rows, name, {3, 32, 32});
  batch.targets = {drawn({rows, 32, 32}, name + " masks")
                       .gt(0)
                       .to(at::kLong)
                       .add(drawn({rows, 32, 32}, name + " more").gt(0.5))};
  return batch;
}

ModelFactory pixel_model(const json& recipe) {
  return [recipe] {
    ModelContext context;
    context.data.classes = {"a", "b", "c"};
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    return catalog<Model>().build(fragment<Model>(recipe), context);
  };
}

void expect_the_same_under_every_engine(const json& recipe) {
  const auto model = pixel_model(recipe);
  auto options = in_double();
  options.sync_bn = true;
  const std::vector<Batch> batches{masks(6, "first"), masks(5, "second")};
  const auto expected = by_single(model, batches, options);
  expect_same(by_dp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 1), expected);
  expect_same(by_ddp(model, batches, options, 2), expected);
  expect_same(by_ddp(model, batches, options, 3), expected);
}

TEST(SegmentationModels, UnetIsTheSameUnderEveryEngine) {
  expect_the_same_under_every_engine({{"type", "unet"},
                                      {"body", kBody},
                                      {"num_classes", 3},
                                      {"self_attention", true},
                                      {"blur", true}});
}

TEST(SegmentationModels, FcnWithAnAuxiliaryLossIsTheSameUnderEveryEngine) {
  expect_the_same_under_every_engine(
      {{"type", "fcn"}, {"body", kBody}, {"num_classes", 3}, {"aux_loss", 0.5}});
}

// With a factor of 0 the second head would learn nothing.
TEST(SegmentationModels, TheAuxiliaryHeadLearns) {
  const auto gradients = by_single(
      pixel_model({{"type", "fcn"}, {"body", kBody}, {"num_classes", 3}, {"aux_loss", 0.5}}),
      {masks(4, "first")});
  for (const auto& gradient : gradients) EXPECT_TRUE(gradient.defined());
  EXPECT_GT(length(gradients.back()), 0);
}

}  // namespace
}  // namespace ddptrain
