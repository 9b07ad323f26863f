#include "jobs/predict/prediction_files.h"

#include <gmock/gmock.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;

TEST(PredictionFiles, AreCalledAsTheirSamplesBelowACommonFolder) {
  EXPECT_THAT(prediction_files({"/d/test/a/1.jpg", "/d/test/b/1.jpg", "/d/test/2.png"}),
              ElementsAre("a/1", "b/1", "2"));
  EXPECT_THAT(prediction_files({"images/x.y.png"}), ElementsAre("x.y"));
  EXPECT_THAT(prediction_files({"/d/../e/1.jpg", "/e/f/2.jpg"}), ElementsAre("1", "f/2"));
  EXPECT_THAT(prediction_files({}), ElementsAre());
}

TEST(PredictionFiles, KeepTheExtensionsThatTellThemApart) {
  EXPECT_THAT(prediction_files({"/d/1.jpg", "/d/1.png", "/d/2.png"}),
              ElementsAre("1.jpg", "1.png", "2"));
}

}  // namespace
}  // namespace ddptrain
