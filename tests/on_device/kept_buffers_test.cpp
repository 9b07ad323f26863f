#include "train/step/kept_buffers.h"

#include <gtest/gtest.h>

#include "models/nets.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

void fill_buffers(const Model& model, double value) {
  for (const auto& [name, tensor] : model.named_buffers()) tensor.detach().fill_(value);
}

TEST(KeptBuffersOnADevice, AreCopiedByOneKernelOfEachType) {
  const auto model = test::make_model(
      {{"type", "sequential"}, {"input", {3, 5, 5}}, {"layers", {"batch_norm", "batch_norm"}}});
  model->to(test::simulated_device(), at::kFloat);
  KeptBuffers kept(*model);
  fill_buffers(*model, 7);
  simulated::reset();
  kept.keep();
  EXPECT_EQ(simulated::counts().operators, 2);  // statistics, and how many batches they are of
  fill_buffers(*model, 9);
  simulated::reset();
  kept.put_back();
  EXPECT_EQ(simulated::counts().operators, 2);
  const auto buffers = model->named_buffers();
  EXPECT_EQ(buffers.size(), 6U);
  for (const auto& [name, tensor] : buffers)
    EXPECT_TRUE(tensor.cpu().eq(7).all().item<bool>()) << name;
}

}  // namespace
}  // namespace ddptrain
