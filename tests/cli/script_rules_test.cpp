// What a recipe cannot ask of a module that Python scripted.
#include <gtest/gtest.h>

#include "cli/laid_over.h"

namespace ddptrain {
namespace {

class ScriptRules : public test::LaidOver {
 protected:
  std::vector<std::string> refusals(const std::string& fragment) const {
    std::vector<std::string> found;
    for (const auto& problem :
         laid_over("model: {type: torchscript, file: model.pt}\n" + fragment).problems)
      if (problem.severity == Severity::error)
        found.push_back("[" + problem.rule + "] " + problem.path + ": " + problem.message);
    return found;
  }
};

using Refusals = std::vector<std::string>;

TEST_F(ScriptRules, AllowTheModesOfOtherModels) {
  for (const std::string mode : {"dp", "ddp", "zero1", "zero2", "fsdp"})
    EXPECT_EQ(refusals("parallel: {mode: " + mode + ", devices: 2}"), Refusals{}) << mode;
}

TEST_F(ScriptRules, RefuseSyncBn) {
  EXPECT_EQ(refusals("parallel: {mode: ddp, devices: 2, sync_bn: true}"),
            Refusals{"[sync-bn] parallel.sync_bn: 'torchscript' computes its batch norm itself, "
                     "from the rows of one device; write 'sync_bn: auto'"});
}

TEST_F(ScriptRules, RefuseSwa) {
  EXPECT_EQ(refusals("train: {swa: {start: 75 %}}"),
            Refusals{"[swa-script] train.swa: 'torchscript' keeps the statistics of its batch norm "
                     "to itself, and swa measures those of the averaged weights; train.ema does "
                     "not"});
  EXPECT_EQ(refusals("train: {ema: {decay: 0.99}}"), Refusals{});
}

TEST_F(ScriptRules, RefuseCapturedSteps) {
  EXPECT_EQ(refusals("train: {graph: true}\nparallel: {device: cuda}"),
            Refusals{"[graph] train.graph: steps cannot be captured into a graph: 'torchscript' "
                     "may decide in each step what it computes"});
}

TEST_F(ScriptRules, RefuseRecomputedBlocks) {
  const auto found = refusals("train: {recompute: blocks}");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      found[0].starts_with("[recompute-blocks] train.recompute: 'torchscript' has no blocks that "
                           "can be computed again; "))
      << found[0];
}

}  // namespace
}  // namespace ddptrain
