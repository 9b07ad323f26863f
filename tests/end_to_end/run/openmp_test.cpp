// Compute threads: those that wait sleep, and small work has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(OpenMp, ThreadsThatWaitSleepUnlessSomebodySaysOtherwise) {
  const Folder folder;
  const auto shown =
      run({"version"}, folder.path(), {{"OMP_DISPLAY_ENV", "verbose"}, {"PWD", folder.path()}});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.err, testing::HasSubstr("GOMP_SPINCOUNT = '0'"));
  const auto active = run({"version"}, folder.path(),
                          {{"OMP_DISPLAY_ENV", "verbose"}, {"OMP_WAIT_POLICY", "active"}});
  EXPECT_THAT(active.err, testing::HasSubstr("OMP_WAIT_POLICY = 'ACTIVE'"));
}

TEST(OpenMp, SmallWorkIsRecordedAsThatOfOneThread) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "table", "houses"}, folder.path()).code, 0);
  const auto ended =
      run({"run", test::in_source("recipes/houses.yaml"), "data.file=houses/houses.csv", "~expect",
           "train.duration=2 steps", "output.dir=runs", "name=small"},
          folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto recipe = read(folder / "runs/small/001/recipe.yaml");
  EXPECT_THAT(recipe, testing::HasSubstr("threads: 1  # auto\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
