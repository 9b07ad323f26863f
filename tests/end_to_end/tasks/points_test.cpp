// Images with points, from synthetic data to predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(PointedScenes, ArePredictedInPixels) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "points", "points", "--train", "16", "--val", "4", "--size", "48"},
                folder.path())
                .code,
            0);
  write(folder / "points.yaml", R"(recipe: 1
name: points
model:
  type: sequential
  layers: [flatten, {type: linear, out: 4}]
data:
  type: image_points
  file: points/points.csv
  transforms: {train: [{type: resize, size: [24, 24]}], valid: [{type: resize, size: [24, 24]}]}
batch: {global: 8}
train: {duration: 1 epoch}
loss: mse
metrics: []
optimizer: {type: sgd, lr: 0}
log: {tensorboard: false}
)");
  const auto trained = run({"run", "points.yaml"}, folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto ended =
      run({"predict", "runs/points/001", "points/images/val_0000.png"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              testing::StartsWith("path,x1,y1,x2,y2,error\npoints/images/val_0000.png,"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
