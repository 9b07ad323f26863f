// Compute threads: those that wait sleep, and small work has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(OpenMp, ThreadsThatWaitSleepUnlessTheEnvironmentSaysOtherwise) {
  const Folder folder;
  const std::vector<std::string> opens_the_engine{"data", "make", "table", "houses"};
  const auto shown = run(opens_the_engine, folder.path(), {{"OMP_DISPLAY_ENV", "verbose"}});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.err, testing::HasSubstr("GOMP_SPINCOUNT = '0'"));
  const Folder other;
  const auto active = run(opens_the_engine, other.path(),
                          {{"OMP_DISPLAY_ENV", "verbose"}, {"OMP_WAIT_POLICY", "active"}});
  ASSERT_EQ(active.code, 0) << active.err;
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
