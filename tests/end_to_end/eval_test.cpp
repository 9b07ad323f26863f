// Scores do not depend on how many ranks computed them.
#include <gtest/gtest.h>

#include <sstream>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Eval, GivesTheRunsLastEvaluationToTheLastBitOnAnyNumberOfRanks) {
  const Folder folder;
  write(folder / "small.yaml",
        small_recipe("metrics: [accuracy, {type: top_k, k: 3}, per_class_accuracy]\n"
                     "eval: {every: 8 steps, batch: 7}\n"));
  ASSERT_EQ(run({"run", "small.yaml", "train.threads=1"}, folder.path(), environment()).code, 0);
  const auto one = run({"eval", "runs/small/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("valid/accuracy"), std::string::npos) << one.out;
  for (const auto* devices : {"2", "3", "4"}) {
    const auto more = run(
        {"eval", "runs/small/001", "parallel.mode=ddp", std::string("parallel.devices=") + devices},
        folder.path());
    ASSERT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(more.out, one.out) << devices << " ranks";
  }
}

TEST(Predict, WritesARowPerPictureInDataOrder) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto ended = run({"predict", "runs/small/001", shapes() + "/val"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string header, line, before;
  std::getline(lines, header);
  EXPECT_EQ(header.substr(0, 11), "path,label,");
  int rows = 0;
  for (; std::getline(lines, line); ++rows, before = line) EXPECT_LT(before, line);
  EXPECT_EQ(rows, 40);
}

TEST(Export, WritesTheWeightsUnderTheirPlainNames) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(
      run({"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=2", "parallel.sync_bn=true"},
          folder.path(), environment())
          .code,
      0);
  const auto ended = run({"export", "runs/small/001", "weights.safetensors"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto bytes = read(folder / "weights.safetensors");
  for (const auto* name : {"\"conv1.weight\"", "\"layer4.1.bn2.running_var\"", "\"fc.bias\""})
    EXPECT_NE(bytes.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace ddptrain::end_to_end
